ALTER TABLE `api_keys` ADD `access` text DEFAULT 'full' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `workspace_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `monthly_credits` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `count_id` text;