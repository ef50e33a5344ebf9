-- Edited by hand: WITHOUT ROWID as in 0000_init, and `due_at` as the first `sweep_at`.
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`at` integer NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text,
	`actor_email` text,
	`action` text NOT NULL,
	`target` text,
	`details` text,
	`ip_address` text
);
--> statement-breakpoint
CREATE INDEX `audit_log_by_organisation` ON `audit_log` (`organisation_id`,`id`);--> statement-breakpoint
CREATE TABLE `closed_organisations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`region_code` text NOT NULL,
	`plan` text NOT NULL,
	`created_at` integer NOT NULL,
	`closed_at` integer NOT NULL,
	`granted` integer NOT NULL,
	`consumed` integer NOT NULL,
	`grants` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `free_credit_claims` (
	`claimant` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`organisation_id` text NOT NULL,
	`origin` text NOT NULL,
	`failing_since` integer NOT NULL,
	`failures` integer NOT NULL,
	`timed_out` integer NOT NULL,
	`busy_until` integer DEFAULT 0 NOT NULL,
	`disabled_at` integer,
	PRIMARY KEY(`organisation_id`, `origin`)
) WITHOUT ROWID;
--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`mode` text NOT NULL,
	`status` text NOT NULL,
	`model_image_url` text,
	`garment_image_url` text,
	`webhook_url` text,
	`base_url` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`completed_at` integer,
	`duration_ms` integer,
	`error_code` text,
	`output_format` text,
	`engine` text,
	`engine_handle` text,
	`unclear_starts` integer DEFAULT 0 NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`sweep_at` integer DEFAULT 0 NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_jobs`("id", "organisation_id", "workspace_id", "mode", "status", "model_image_url", "garment_image_url", "webhook_url", "base_url", "created_at", "started_at", "completed_at", "duration_ms", "error_code", "output_format", "engine", "engine_handle", "unclear_starts", "attempts", "due_at", "sweep_at") SELECT "id", "organisation_id", "workspace_id", "mode", "status", "model_image_url", "garment_image_url", "webhook_url", "base_url", "created_at", "started_at", "completed_at", "duration_ms", "error_code", "output_format", "engine", "engine_handle", "unclear_starts", "attempts", "due_at", "due_at" FROM `jobs`;--> statement-breakpoint
DROP TABLE `jobs`;--> statement-breakpoint
ALTER TABLE `__new_jobs` RENAME TO `jobs`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `jobs_by_organisation` ON `jobs` (`organisation_id`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_workspace` ON `jobs` (`organisation_id`,`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_status` ON `jobs` (`organisation_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_workspace_status` ON `jobs` (`organisation_id`,`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_unfinished` ON `jobs` (`sweep_at`) WHERE status in ('pending', 'processing');--> statement-breakpoint
DROP INDEX `webhook_events_undelivered`;--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `sweep_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_events_undelivered` ON `webhook_events` (`sweep_at`) WHERE status in ('pending', 'retrying');--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by` text;--> statement-breakpoint
ALTER TABLE `organisations` ADD `output_retention_days` integer DEFAULT 30 NOT NULL;--> statement-breakpoint
ALTER TABLE `organisations` ADD `retention_due_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `organisations` ADD `pictures_purged_to` text;--> statement-breakpoint
ALTER TABLE `organisations` ADD `test_jobs_purged_to` text;--> statement-breakpoint
ALTER TABLE `organisations` ADD `delete_after` integer;--> statement-breakpoint
CREATE INDEX `organisations_by_retention` ON `organisations` (`retention_due_at`);--> statement-breakpoint
CREATE INDEX `organisations_by_deletion` ON `organisations` (`delete_after`) WHERE delete_after is not null;--> statement-breakpoint
ALTER TABLE `users` ADD `delete_after` integer;--> statement-breakpoint
CREATE INDEX `users_by_deletion` ON `users` (`delete_after`) WHERE delete_after is not null;