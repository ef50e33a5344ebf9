CREATE TABLE `alert_state` (
	`id` text PRIMARY KEY NOT NULL,
	`evaluated_at` integer NOT NULL,
	`entries` text NOT NULL
);
