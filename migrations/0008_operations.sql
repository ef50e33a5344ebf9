DROP INDEX `jobs_by_status`;--> statement-breakpoint
DROP INDEX `jobs_by_workspace_status`;--> statement-breakpoint
DROP INDEX `jobs_unfinished`;--> statement-breakpoint
ALTER TABLE `jobs` ADD `request_id` text;--> statement-breakpoint
CREATE INDEX `jobs_by_status` ON `jobs` (`organisation_id`,`status`,`id`) WHERE status in ('completed', 'failed', 'cancelled', 'refunded');--> statement-breakpoint
CREATE INDEX `jobs_by_workspace_status` ON `jobs` (`organisation_id`,`workspace_id`,`status`,`id`) WHERE status in ('completed', 'failed', 'cancelled', 'refunded');--> statement-breakpoint
-- Added by hand: `sweep_at` of a finished job is 0.
UPDATE `jobs` SET `sweep_at` = 0 WHERE `status` NOT IN ('pending', 'processing');--> statement-breakpoint
-- Added by hand: jobs of the first release have no `sweep_at`.
UPDATE `jobs` SET `sweep_at` = `due_at` WHERE `status` IN ('pending', 'processing') AND `sweep_at` = 0;--> statement-breakpoint
CREATE INDEX `jobs_unfinished` ON `jobs` (`organisation_id`,`id`) WHERE sweep_at > 0;
