CREATE TABLE `sandbox_customers` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`name` text NOT NULL,
	`origin` text NOT NULL,
	`card` text,
	`card_page_key` text,
	`card_page_expires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sandbox_customers_card_page_key_unique` ON `sandbox_customers` (`card_page_key`);--> statement-breakpoint
CREATE INDEX `sandbox_customers_by_organisation` ON `sandbox_customers` (`organisation_id`);--> statement-breakpoint
CREATE TABLE `sandbox_payments` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`payment_id` text,
	`secret` text NOT NULL,
	`item` text NOT NULL,
	`plan` text,
	`subscription_id` text,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`status` text NOT NULL,
	`failure` text,
	`card` text,
	`return_url` text,
	`cancel_url` text,
	`expires_at` integer,
	`paid_at` integer,
	`refunds` text NOT NULL,
	`version` text NOT NULL,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sandbox_payments_by_organisation` ON `sandbox_payments` (`organisation_id`);--> statement-breakpoint
CREATE INDEX `sandbox_payments_by_subscription` ON `sandbox_payments` (`subscription_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `sandbox_payments_by_change` ON `sandbox_payments` (`changed_at`);--> statement-breakpoint
CREATE INDEX `sandbox_payments_unpaid` ON `sandbox_payments` (`created_at`) WHERE status <> 'paid' and payment_id is not null;--> statement-breakpoint
CREATE TABLE `sandbox_subscriptions` (
	`id` text PRIMARY KEY NOT NULL,
	`organisation_id` text NOT NULL,
	`plan` text NOT NULL,
	`amount` integer NOT NULL,
	`currency` text NOT NULL,
	`started_at` integer NOT NULL,
	`periods` integer NOT NULL,
	`next_plan` text,
	`status` text NOT NULL,
	`retry_at` integer,
	`due_at` integer,
	`version` text NOT NULL,
	`changed_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sandbox_subscriptions_by_organisation` ON `sandbox_subscriptions` (`organisation_id`);--> statement-breakpoint
CREATE INDEX `sandbox_subscriptions_by_change` ON `sandbox_subscriptions` (`changed_at`);--> statement-breakpoint
CREATE INDEX `sandbox_subscriptions_due` ON `sandbox_subscriptions` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
-- Added by hand: the objects of the release before, which refers to them in payments and billing accounts.
INSERT INTO `sandbox_customers` (`id`, `organisation_id`, `name`, `origin`, `card`)
SELECT `id`, `organisation_id`, `data` ->> '$.name', `data` ->> '$.origin', `data` ->> '$.card.lastFour'
FROM `sandbox_objects` WHERE `data` ->> '$.type' = 'customer';--> statement-breakpoint
-- A pack that is being processed is paid in the future; a plan has to be paid again. An expired payment is
-- open beyond its time.
INSERT INTO `sandbox_payments` (
	`id`, `organisation_id`, `payment_id`, `secret`, `item`, `plan`, `subscription_id`, `amount`, `currency`,
	`status`, `failure`, `card`, `return_url`, `cancel_url`, `expires_at`, `paid_at`, `refunds`,
	`version`, `created_at`, `changed_at`)
SELECT
	`id`, `organisation_id`, `data` ->> '$.paymentId', `data` ->> '$.secret', `data` ->> '$.item', `data` ->> '$.plan',
	coalesce(`data` ->> '$.subscriptionId', CASE WHEN `data` ->> '$.plan' IS NOT NULL THEN 'sub_' || substr(`id`, 4) END),
	`data` ->> '$.amount', `data` ->> '$.currency',
	CASE
		WHEN `data` ->> '$.status' = 'processing' AND `data` ->> '$.plan' IS NULL THEN 'paid'
		WHEN `data` ->> '$.status' IN ('processing', 'expired') THEN 'open'
		ELSE `data` ->> '$.status'
	END,
	`data` ->> '$.failure', `data` ->> '$.card.lastFour',
	`data` ->> '$.checkout.returnUrl', `data` ->> '$.checkout.cancelUrl', `data` ->> '$.checkout.expiresAt',
	coalesce(`data` ->> '$.paidAt', `data` ->> '$.settlesAt'), `data` -> '$.refunds',
	`data` ->> '$.version', `created_at`, coalesce(`data` ->> '$.paidAt', `created_at`)
FROM `sandbox_objects` WHERE `data` ->> '$.type' = 'payment';--> statement-breakpoint
INSERT INTO `sandbox_subscriptions` (
	`id`, `organisation_id`, `plan`, `amount`, `currency`, `started_at`, `periods`, `next_plan`, `status`,
	`retry_at`, `due_at`, `version`, `changed_at`)
SELECT
	`id`, `organisation_id`, `data` ->> '$.plan', `data` ->> '$.amount', `data` ->> '$.currency', `data` ->> '$.startedAt',
	`data` ->> '$.periods', `data` ->> '$.nextPlan', `data` ->> '$.status',
	`data` ->> '$.retryAt', `due_at`, `data` ->> '$.version', `created_at`
FROM `sandbox_objects` WHERE `data` ->> '$.type' = 'subscription';
