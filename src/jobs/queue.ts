// Queue messages about jobs. Test jobs have a separate queue, so that they do not wait for live jobs.
import { z } from 'zod'
import type { JobRow } from '../platform/db/schema.ts'
import { MODES, type Mode } from '../domain/job.ts'
import { dueAfter } from '../platform/queues/handle-message.ts'

export const JobMessage = z.object({
  jobId: z.string(),
  mode: z.enum(MODES).optional(),
  organisationId: z.string().optional(),
  /** Whether the sweep sent the message. */
  swept: z.boolean().optional(),
})
export type JobMessage = z.infer<typeof JobMessage>

export const queueOf = (env: Env, mode: Mode | undefined): Queue =>
  mode === 'test' ? env.TEST_JOBS : env.JOBS

type Addressed = Pick<JobRow, 'id' | 'mode' | 'organisationId'>

export const messageOf = ({ id: jobId, mode, organisationId }: Addressed): JobMessage => ({
  jobId,
  mode,
  organisationId,
})

export async function sendJob(env: Env, message: JobMessage, options?: QueueSendOptions) {
  const body = { ...message, ...dueAfter(options?.delaySeconds) }
  await queueOf(env, message.mode).send(body, options)
}
