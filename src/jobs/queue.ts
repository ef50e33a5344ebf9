// Messages about jobs. Test jobs have a queue of their own, so that they never wait for live ones.
import { z } from 'zod'
import type { JobRow } from '../db/schema.ts'
import { MODES } from '../domain/job.ts'
import type { Mode } from '../domain/job.ts'

export const JobMessage = z.object({
  jobId: z.string(),
  mode: z.enum(MODES).optional(),
  organisationId: z.string().optional(),
  /** Set when the sweep sent the message, and not the submission. */
  swept: z.boolean().optional(),
})
export type JobMessage = z.infer<typeof JobMessage>

export const queueOf = (env: Env, mode: Mode | undefined): Queue =>
  mode === 'test' ? env.TEST_JOBS : env.JOBS

export const messageOf = ({
  id,
  mode,
  organisationId,
}: Pick<JobRow, 'id' | 'mode' | 'organisationId'>): JobMessage => ({
  jobId: id,
  mode,
  organisationId,
})

export async function sendJob(
  env: Env,
  message: JobMessage,
  options?: QueueSendOptions,
): Promise<void> {
  await queueOf(env, message.mode).send(message, options)
}
