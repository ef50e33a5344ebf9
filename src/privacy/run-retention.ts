// Deletes data by age, in independent steps with bounded work per cron run. The retention periods are
// in domain/limits and documented in docs/retention.md.
import { deleteUnpaidSandboxPayments } from '../billing/sandbox/sandbox-payments.ts'
import { firstIdSince, shardOf } from '../platform/ids.ts'
import { deletePictures } from '../jobs/pictures.ts'
import { isFinal } from '../domain/job.ts'
import { defaultEndpointOf } from '../webhooks/endpoints/default-endpoint.ts'
import { log } from '../platform/log.ts'
import { DAY_MS, UPLOAD_GRACE_MS, UPLOAD_TTL_SECONDS } from '../domain/limits.ts'
import { PAGE, pagesOfJobs, recordPurge, takeDueOrganisations } from './job-retention-store.ts'
import type { DueOrganisation, PageJob } from './job-retention-store.ts'
import { cutoff, ROW_STEPS, SLICES } from './retention-store.ts'
import type { Step } from './retention-store.ts'

/** The maximum number of pages of jobs per run, with five subrequests each. */
const PAGES_PER_RUN = 50
/** The maximum number of organisations per run, with those of failing shards, which are skipped. */
const MAX_TAKEN_PER_RUN = 1_000
/** The time between two runs for an organisation without a backlog. */
const INTERVAL_MS = 6 * 60 * 60_000
/** The maximum number of R2 list calls per run, each with up to 1,000 objects. */
const LISTS_PER_RUN = 5
const MINUTE_MS = 60_000
/** How long an upload is stored. */
const UPLOAD_STORED_MS = UPLOAD_TTL_SECONDS * 1_000 + UPLOAD_GRACE_MS

const STEPS: Record<string, Step> = {
  jobs: purgeOrganisations,
  inputs: (env) => deleteObjects(env, 'inputs', firstIdSince('job', cutoff('inputs'))),
  uploads: (env) =>
    deleteObjects(env, 'uploads', firstIdSince('upl', Date.now() - UPLOAD_STORED_MS)),
  ...ROW_STEPS,
  sandboxPayments: deleteUnpaidSandboxPayments,
}

/**
 * Deletes data whose retention is over. A step that fails does not stop the others.
 * @throws the first failure, after all steps; the next run repeats it
 */
export async function runRetention(env: Env): Promise<void> {
  const slice = Math.floor(Date.now() / MINUTE_MS) % SLICES
  const deleted: Record<string, number> = {}
  const failures: unknown[] = []
  for (const [step, run] of Object.entries(STEPS)) {
    try {
      const count = await run(env, slice)
      if (count > 0) deleted[step] = count
    } catch (error) {
      log.error('retention step failed', error, { step })
      failures.push(error)
    }
  }
  if (Object.keys(deleted).length > 0) log.info('retention', deleted)
  if (failures.length > 0) throw failures[0]
}

/**
 * Purges the jobs of due organisations page by page. A backlog takes several pages. A shard that fails
 * takes no more pages of this run, so that it does not delay the organisations of the others.
 */
async function purgeOrganisations(env: Env): Promise<number> {
  let count = 0
  let left = PAGES_PER_RUN
  const failing = new Set<number>()
  for (let taken = 0; left > 0 && taken < MAX_TAKEN_PER_RUN;) {
    const due = await takeDueOrganisations(env, left)
    if (due.length === 0) break
    taken += due.length
    for (const organisation of due) {
      const shard = shardOf(organisation.id)
      // Taking it has postponed it.
      if (failing.has(shard)) continue
      left--
      try {
        const pages = await readPages(env, organisation).catch((error: unknown) => {
          failing.add(shard)
          throw error
        })
        count += await purgePages(env, organisation, pages)
        // Copies the URL and the secrets of the release before, if nothing has needed them yet.
        await defaultEndpointOf(env, organisation.id)
      } catch (error) {
        log.error('retention failed', error, { organisationId: organisation.id })
      }
    }
  }
  return count
}

type Pages = Awaited<ReturnType<typeof readPages>>

/** One page each of pictures, test jobs and live jobs whose retention is over. */
const readPages = (
  env: Env,
  { id, outputRetentionDays, picturesPurgedTo, testJobsPurgedTo }: DueOrganisation,
) =>
  pagesOfJobs(env, id, [
    {
      after: picturesPurgedTo ?? '',
      before: firstIdSince('job', Date.now() - outputRetentionDays * DAY_MS),
    },
    { after: testJobsPurgedTo ?? '', before: firstIdSince('job', cutoff('testJobs')) },
    { after: '', before: firstIdSince('job', cutoff('liveJobs')) },
  ])

/** Purges pages. Deletes the objects first: after a crash, the rows still identify them. */
async function purgePages(
  env: Env,
  organisation: DueOrganisation,
  [pictures, recent, old]: Pages,
): Promise<number> {
  const { picturesPurgedTo, testJobsPurgedTo } = organisation
  const ofPictures = finished(pictures)
  const ofTests = finished(recent)
  const ofOld = finished(old)
  const withoutPictures = ofPictures.ids
  const deleted = [
    ...new Set(
      [...ofTests.jobs.filter(({ mode }) => mode === 'test'), ...ofOld.jobs].map((job) => job.id),
    ),
  ]
  await deletePictures({ env, jobIds: [...new Set([...withoutPictures, ...deleted])] })
  const more = [ofPictures, ofTests, ofOld].some(({ hasMore }) => hasMore)
  const rows = await recordPurge(env, organisation, {
    withoutPictures,
    deleted,
    picturesPurgedTo: ofPictures.ids.at(-1) ?? picturesPurgedTo,
    testJobsPurgedTo: ofTests.ids.at(-1) ?? testJobsPurgedTo,
    dueAt: new Date(Date.now() + (more ? 0 : INTERVAL_MS)),
  })
  return withoutPictures.length + rows
}

/** The jobs of a page before the first that is pending or processing. */
function finished(page: PageJob[]) {
  const open = page.findIndex(({ status }) => !isFinal(status))
  const jobs = open === -1 ? page : page.slice(0, open)
  return { jobs, ids: jobs.map(({ id }) => id), hasMore: jobs.length === PAGE }
}

/** Deletes objects whose keys contain an id before `firstId`. R2 lists keys in order, oldest first. */
async function deleteObjects(env: Env, folder: string, firstId: string): Promise<number> {
  const cutoffKey = `${folder}/${firstId}`
  let count = 0
  for (let list = 0; list < LISTS_PER_RUN; list++) {
    const { objects, truncated } = await env.IMAGES.list({ prefix: `${folder}/` })
    const old = objects.map(({ key }) => key).filter((key) => key < cutoffKey)
    if (old.length > 0) await env.IMAGES.delete(old)
    count += old.length
    if (!truncated || old.length < objects.length) break
  }
  return count
}
