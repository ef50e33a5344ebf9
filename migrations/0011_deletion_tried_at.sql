ALTER TABLE `users` ADD `deletion_tried_at` integer;--> statement-breakpoint
ALTER TABLE `organisations` ADD `deletion_tried_at` integer;