CREATE TABLE `challenges` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`user_id` text NOT NULL,
	`email` text,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `challenges_by_user` ON `challenges` (`user_id`);--> statement-breakpoint
CREATE INDEX `challenges_by_end` ON `challenges` (`expires_at`);--> statement-breakpoint
CREATE TABLE `muted_notifications` (
	`user_id` text NOT NULL,
	`organisation_id` text,
	`kind` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organisation_id`,`user_id`) REFERENCES `members`(`organisation_id`,`user_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `muted_notifications_by_user` ON `muted_notifications` (`user_id`,`organisation_id`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`name` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `passkeys_by_user` ON `passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `recovery_codes_by_user` ON `recovery_codes` (`user_id`);--> statement-breakpoint
CREATE TABLE `rejected_pages` (
	`id` text PRIMARY KEY NOT NULL,
	`page` text NOT NULL,
	`ends_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `totp_secrets` (
	`user_id` text PRIMARY KEY NOT NULL,
	`secret` text NOT NULL,
	`last_step` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `job_statistics` (
	`day` integer NOT NULL,
	`organisation_id` text NOT NULL,
	`mode` text NOT NULL,
	`workspace_id` text NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`other` integer NOT NULL,
	`errors` text NOT NULL,
	`durations` text NOT NULL,
	PRIMARY KEY(`day`, `organisation_id`, `mode`, `workspace_id`)
);
--> statement-breakpoint
CREATE TABLE `job_statistics_days` (
	`day` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `added_webhook_endpoints` (
	`organisation_id` text NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`url` text NOT NULL,
	`types` text NOT NULL,
	`mode` text,
	`enabled` integer DEFAULT true NOT NULL,
	`secret` text NOT NULL,
	`secret_previous` text,
	`secret_previous_until` integer,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`organisation_id`, `id`)
);
--> statement-breakpoint
ALTER TABLE `jobs` ADD `api_key_id` text;--> statement-breakpoint
ALTER TABLE `jobs` ADD `cancelled_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `test_event_for` text;--> statement-breakpoint
ALTER TABLE `webhook_attempts` ADD `signature` text;--> statement-breakpoint
ALTER TABLE `webhook_attempts` ADD `response_headers` text;--> statement-breakpoint
ALTER TABLE `webhook_endpoints` ADD `reported_at` integer;--> statement-breakpoint
ALTER TABLE `webhook_events` ADD `added_endpoint_id` text;--> statement-breakpoint
ALTER TABLE `invitations` ADD `workspace_ids` text;--> statement-breakpoint
ALTER TABLE `members` ADD `workspace_ids` text;--> statement-breakpoint
ALTER TABLE `users` ADD `two_factor_enabled_at` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `former_emails` text;--> statement-breakpoint
CREATE INDEX `audit_log_by_action` ON `audit_log` (`organisation_id`,`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`organisation_id`,`actor_id`,`id`);--> statement-breakpoint
-- Members become developers. Both names have the same permissions in the code before this migration.
UPDATE `members` SET `role` = 'developer' WHERE `role` = 'member';--> statement-breakpoint
UPDATE `invitations` SET `role` = 'developer' WHERE `role` = 'member';--> statement-breakpoint
-- Names were the local part of the email address and not editable. They now start empty.
UPDATE `users` SET `name` = '';
