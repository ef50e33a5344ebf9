// Collects the facts for the invariants, without any wrapper or cache.
import { env } from 'cloudflare:workers'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { violations, type Facts } from './invariants.ts'
import { jobsDb } from './jobs-database.ts'

/** The stored facts of an organisation. */
export async function factsOf(organisationId: string): Promise<Facts> {
  const organisation = organisationStub(env, organisationId)
  const [jobs, events] = await jobsDb(organisationId).batch([
    jobsDb(organisationId)
      .prepare(
        `SELECT id, mode, status, webhook_url AS webhookUrl, model_image_url IS NULL AS cleared
       FROM jobs WHERE organisation_id = ?`,
      )
      .bind(organisationId),
    jobsDb(organisationId)
      .prepare('SELECT id, job_id AS jobId, status FROM webhook_events WHERE organisation_id = ?')
      .bind(organisationId),
  ])
  return {
    totals: await organisation.totals(),
    entries: await organisation.entries({ limit: 1_000_000 }),
    jobs: (jobs?.results ?? []) as Facts['jobs'],
    events: (events?.results ?? []) as Facts['events'],
  }
}

/**
 * The violated invariants of an organisation without work in progress.
 * @param known facts that are not in the database: the event ids that the receiver accepted, and the
 *   number of completed live jobs that retention has deleted; and the added endpoints
 */
export const violationsOf = async (
  organisationId: string,
  known: Pick<Facts, 'received' | 'deletedCompleted' | 'addedEndpointIds'> = {},
) => violations({ ...(await factsOf(organisationId)), ...known })
