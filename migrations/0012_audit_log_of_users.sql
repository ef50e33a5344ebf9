DROP INDEX `audit_log_by_actor`;--> statement-breakpoint
CREATE INDEX `audit_log_by_email` ON `audit_log` (details ->> 'email') WHERE details ->> 'email' is not null;--> statement-breakpoint
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`actor_id`,`organisation_id`,`id`);