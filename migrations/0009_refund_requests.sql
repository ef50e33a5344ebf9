CREATE TABLE `refund_requests` (
	`payment_id` text NOT NULL,
	`reference` text NOT NULL,
	`amount` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`payment_id`, `reference`)
);--> statement-breakpoint
-- Added by hand: the audit log has contained the requests, and its entries are deleted after 400 days.
INSERT OR IGNORE INTO `refund_requests` (`payment_id`, `reference`, `amount`, `created_at`)
SELECT `target`, `details` ->> '$.reference', `details` ->> '$.amount', `at` FROM `audit_log`
WHERE `action` = 'payment.refund_requested' ORDER BY `id`;
