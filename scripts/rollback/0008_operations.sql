-- Before a return to the version before migration 0008: restores its indexes of jobs. Run it on each jobs database
-- (docs/deployment.md, "Rollback"). It may be repeated.
DROP INDEX IF EXISTS jobs_by_status;
DROP INDEX IF EXISTS jobs_by_workspace_status;
DROP INDEX IF EXISTS jobs_unfinished;
CREATE INDEX jobs_by_status ON jobs (organisation_id, status, id);
CREATE INDEX jobs_by_workspace_status ON jobs (organisation_id, workspace_id, status, id);
CREATE INDEX jobs_unfinished ON jobs (sweep_at) WHERE status in ('pending', 'processing');
