ALTER TABLE `payments` ADD `tax` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `payment_method` text;