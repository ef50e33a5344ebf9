CREATE TABLE `billing_accounts` (
	`organisation_id` text PRIMARY KEY NOT NULL,
	`provider` text,
	`customer_id` text,
	`payment_method` text,
	`subscription_id` text,
	`subscription_status` text,
	`next_plan` text,
	`period_end` integer,
	`grace_until` integer,
	`grace_mail_day` integer,
	`enterprise_terms` text
);
--> statement-breakpoint
CREATE TABLE `payment_events` (
	`id` text PRIMARY KEY NOT NULL,
	`provider` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_events_by_age` ON `payment_events` (`provider`,`created_at`);--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`kind` text NOT NULL,
	`status` text NOT NULL,
	`plan` text,
	`credits` integer NOT NULL,
	`credits_reversed` integer DEFAULT 0 NOT NULL,
	`amount` integer NOT NULL,
	`amount_refunded` integer DEFAULT 0 NOT NULL,
	`currency` text NOT NULL,
	`dispute` text,
	`provider` text NOT NULL,
	`provider_reference` text,
	`action_url` text,
	`invoice_url` text,
	`failure` text,
	`created_by` text,
	`created_at` integer NOT NULL,
	`checked_at` integer NOT NULL,
	`paid_at` integer,
	`receipt_due_at` integer
);
--> statement-breakpoint
CREATE INDEX `payments_by_organisation` ON `payments` (`organisation_id`,`id`);--> statement-breakpoint
CREATE INDEX `payments_by_status` ON `payments` (`status`,`id`);--> statement-breakpoint
CREATE INDEX `payments_open` ON `payments` (`organisation_id`) WHERE status = 'open' or receipt_due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_open_upgrade` ON `payments` (`organisation_id`) WHERE kind = 'plan' and status = 'open' and amount = 0;--> statement-breakpoint
CREATE UNIQUE INDEX `payments_by_reference` ON `payments` (`provider`,`provider_reference`) WHERE provider_reference is not null;--> statement-breakpoint
CREATE TABLE `sandbox_objects` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	`due_at` integer
);
--> statement-breakpoint
CREATE INDEX `sandbox_objects_by_organisation` ON `sandbox_objects` (`organisation_id`,`id`);--> statement-breakpoint
CREATE INDEX `sandbox_objects_due` ON `sandbox_objects` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
ALTER TABLE `organisations` ADD `rate_limit_overridden` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `organisations` ADD `auto_reload_threshold` integer;--> statement-breakpoint
ALTER TABLE `organisations` ADD `auto_reload_pack` integer;--> statement-breakpoint
ALTER TABLE `organisations` ADD `auto_reload_monthly_max` integer;--> statement-breakpoint
UPDATE `organisations` SET `rate_limit_overridden` = true WHERE `rate_limit_per_minute` <> 60;
