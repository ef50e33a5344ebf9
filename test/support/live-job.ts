// A live job that the test processes message by message, with inputs from fake hosts.
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, vi } from 'vitest'
import { jobs, type JobRow } from '../../src/platform/db/schema.ts'
import { jobsDatabase } from '../../src/platform/db/database.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { jpeg, png } from './picture.ts'
import { fakeUpstream, type Upstream } from './upstream.ts'
import { newOrganisation, readJob, submit } from './world.ts'

export const MODEL = 'https://cdn.test/model'
const GARMENT = 'https://cdn.test/garment'

/** For every test of the calling file: serves both images and restores the clock afterwards. */
export function fakePictures(): Upstream {
  const upstream = fakeUpstream()
  beforeEach(() => {
    upstream.on(MODEL, () => new Response(jpeg())).on(GARMENT, () => new Response(png()))
  })
  afterEach(() => void vi.useRealTimers())
  return upstream
}

export const PICTURES = { model_image_url: MODEL, garment_image_url: GARMENT }

/** Makes the job queues accept messages without delivering them. */
export function dropMessages() {
  const accepted = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } }
  vi.spyOn(env.TEST_JOBS, 'send').mockResolvedValue(accepted)
  return vi.spyOn(env.JOBS, 'send').mockResolvedValue(accepted)
}

/** A live job that is processed only when the test calls `run`. */
export async function newJob(vars: Record<string, string> = {}) {
  const send = dropMessages()
  const shop = await newOrganisation()
  const { job_id: jobId } = await submit(shop.live, PICTURES)
  send.mockClear()
  vi.useFakeTimers({ toFake: ['Date'] })
  const startedAt = Date.now()
  const row = async () => {
    const [found] = await jobsDatabase(env, jobId).select().from(jobs).where(eq(jobs.id, jobId))
    return found!
  }
  return {
    shop,
    row,
    read: () => readJob(shop.live, jobId),
    job: {
      id: jobId,
      /** Processes a message at `afterMs` from the submission. */
      run: (afterMs = 0, message: { swept?: boolean } = {}) => {
        vi.setSystemTime(startedAt + afterMs)
        return processJob({ env: { ...env, ...vars }, jobId, ...message })
      },
    },
    /** The delays of the messages sent so far. */
    sent: () => send.mock.calls.map(([, options]) => options?.delaySeconds),
  }
}

/** The keys of the stored copies of a job's inputs. */
export async function copies({ id }: Pick<JobRow, 'id'>): Promise<string[]> {
  const { objects } = await env.IMAGES.list({ prefix: `inputs/${id}/` })
  return objects.map(({ key }) => key)
}
