CREATE TABLE `failing_origins` (
	`organisation_id` text NOT NULL,
	`origin` text NOT NULL,
	`failing_since` integer NOT NULL,
	`failures` integer NOT NULL,
	`timed_out` integer NOT NULL,
	`busy_until` integer DEFAULT 0 NOT NULL,
	`disabled_at` integer,
	`reported_at` integer,
	PRIMARY KEY(`organisation_id`, `origin`)
);
--> statement-breakpoint
-- Added by hand: copies the rows of the table that the release before uses.
INSERT INTO `failing_origins` (`organisation_id`, `origin`, `failing_since`, `failures`, `timed_out`, `busy_until`, `disabled_at`, `reported_at`)
	SELECT `organisation_id`, `origin`, `failing_since`, `failures`, `timed_out`, `busy_until`, `disabled_at`, `reported_at` FROM `webhook_endpoints`;
