CREATE TABLE `failing_receivers` (
	`organisation_id` text NOT NULL,
	`origin` text NOT NULL,
	`failing_since` integer NOT NULL,
	`failures` integer NOT NULL,
	`timed_out` integer NOT NULL,
	`busy_until` integer DEFAULT 0 NOT NULL,
	`disabled_at` integer,
	`reported_at` integer,
	`receiver` text NOT NULL,
	PRIMARY KEY(`organisation_id`, `receiver`)
);

--> statement-breakpoint
-- Added by hand: copies the failures of each origin to the origin and to the endpoints that have it.
INSERT INTO `failing_receivers` (`organisation_id`, `origin`, `failing_since`, `failures`, `timed_out`, `busy_until`, `disabled_at`, `reported_at`, `receiver`)
	SELECT `organisation_id`, `origin`, `failing_since`, `failures`, `timed_out`, `busy_until`, `disabled_at`, `reported_at`, `origin` FROM `failing_origins`
	UNION
	SELECT f.`organisation_id`, f.`origin`, f.`failing_since`, f.`failures`, f.`timed_out`, f.`busy_until`, f.`disabled_at`, f.`reported_at`, e.`id`
		FROM `failing_origins` f JOIN `added_webhook_endpoints` e ON e.`organisation_id` = f.`organisation_id`
			AND (e.`url` = f.`origin` OR substr(e.`url`, 1, length(f.`origin`) + 1) IN (f.`origin` || '/', f.`origin` || '?'));
