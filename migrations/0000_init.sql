-- Edited by hand: drizzle cannot say WITHOUT ROWID. With a text key, an ordinary table keeps a second
-- b-tree for the key alone, which would cost one more row written for each job, event and attempt.
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`mode` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`last_four` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`organisation_id`) REFERENCES `organisations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `api_keys_by_organisation` ON `api_keys` (`organisation_id`,`id`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`workspace_id` text NOT NULL,
	`mode` text NOT NULL,
	`status` text NOT NULL,
	`model_image_url` text NOT NULL,
	`garment_image_url` text NOT NULL,
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
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `jobs_by_organisation` ON `jobs` (`organisation_id`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_workspace` ON `jobs` (`organisation_id`,`workspace_id`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_status` ON `jobs` (`organisation_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_by_workspace_status` ON `jobs` (`organisation_id`,`workspace_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_unfinished` ON `jobs` (`due_at`) WHERE status in ('pending', 'processing');--> statement-breakpoint
CREATE TABLE `organisations` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`plan` text NOT NULL,
	`region_code` text NOT NULL,
	`rate_limit_per_minute` integer NOT NULL,
	`default_webhook_url` text,
	`webhook_secret` text NOT NULL,
	`webhook_secret_previous` text,
	`webhook_secret_previous_until` integer,
	`auto_reload_enabled` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `webhook_attempts` (
	`event_id` text NOT NULL,
	`number` integer NOT NULL,
	`at` integer NOT NULL,
	`response_status` integer,
	`duration_ms` integer NOT NULL,
	`response_body` text,
	`error` text,
	PRIMARY KEY(`event_id`, `number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`job_id` text NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`status` text DEFAULT 'pending' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `webhook_events_undelivered` ON `webhook_events` (`due_at`) WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE TABLE `workspaces` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`name` text NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organisation_id`) REFERENCES `organisations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `workspaces_by_organisation` ON `workspaces` (`organisation_id`,`id`);