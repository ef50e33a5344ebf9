-- Their rows are copied, or expired within a minute. The next release drops the tables: the version before
-- this one still uses them while it is replaced.
DELETE FROM `sandbox_objects`;--> statement-breakpoint
DELETE FROM `rejected_pages`;
