// The sweep when a queue refuses: one kind of work must not keep back the other.
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { sweep } from '../../src/jobs/sweep.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { newOrganisation, submit } from '../support/world.ts'

fakeUpstream()

/** The environment with both queues watched, and one of them refusing. */
function refusing(queue?: 'JOBS' | 'WEBHOOKS') {
  const sent = { JOBS: [] as unknown[], WEBHOOKS: [] as unknown[] }
  const watched = (name: keyof typeof sent) => ({
    sendBatch: async (messages: { body: unknown }[]) => {
      if (name === queue) throw new Error('the queue is full')
      sent[name].push(...messages.map(({ body }) => body))
    },
  })
  const bindings = { JOBS: watched('JOBS'), WEBHOOKS: watched('WEBHOOKS') }
  return { sent, env: Object.assign({ ...env }, bindings) as unknown as Env }
}

async function overdueJobAndEvent(): Promise<void> {
  const { test } = await newOrganisation()
  await submit(test, {})
  await env.DB.batch([
    env.DB.prepare("UPDATE jobs SET status = 'pending', due_at = 0"),
    env.DB.prepare(
      `INSERT OR REPLACE INTO webhook_events (id, organisation_id, job_id, type, status, url, created_at, due_at)
       SELECT 'evt_' || substr(id, 5), organisation_id, id, 'job.completed', 'pending',
         'https://hooks.test/', 0, 0 FROM jobs LIMIT 1`,
    ),
  ])
}

describe('the sweep', () => {
  it.each([
    ['webhooks when jobs are refused', 'JOBS', 'WEBHOOKS'],
    ['jobs when webhooks are refused', 'WEBHOOKS', 'JOBS'],
  ] as const)('queues %s, and says so', async (_, refused, other) => {
    await overdueJobAndEvent()
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const stand = refusing(refused)
    await expect(sweep(stand.env)).rejects.toThrow('the queue is full')
    expect(stand.sent[other].length).toBeGreaterThan(0)
    expect(String(log.mock.calls)).toContain('sweep failed')
    log.mockRestore()
  })
})
