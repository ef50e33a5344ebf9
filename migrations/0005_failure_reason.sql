ALTER TABLE `jobs` ADD `failure_reason` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `failure_audience` text;