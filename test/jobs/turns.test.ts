// Live jobs take turns, for pictures fill an isolate's memory: who waits has begun nothing, and a
// picture counts until it is stored.
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { processJob } from '../../src/jobs/process.ts'
import { picture, scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, holdMessages, PICTURES } from '../support/live-job.ts'
import { newOrganisation, submit } from '../support/world.ts'

fakePictures()

async function fiveJobs() {
  holdMessages()
  const shop = await newOrganisation()
  const ids: string[] = []
  while (ids.length < 5) ids.push((await submit(shop.live, PICTURES)).job_id)
  const count = async (status: string) =>
    env.DB.prepare('SELECT count(*) AS n FROM jobs WHERE organisation_id = ? AND status = ?')
      .bind(shop.orgId, status)
      .first<number>('n')
  return { run: () => Promise.all(ids.map((jobId) => processJob({ env, jobId }))), count }
}

it('claims a job when its turn comes, not before', async () => {
  let finish = () => {}
  const held = new Promise<void>((resolve) => (finish = resolve))
  const engine = scripted('engine', { start: [] })
  engine.start.mockImplementation(() => held.then(() => picture))
  useEngines(engine)
  const { run, count } = await fiveJobs()
  const done = run()
  await vi.waitUntil(() => engine.start.mock.calls.length === 2)
  expect([await count('processing'), await count('pending')]).toEqual([2, 3])
  finish()
  await done
  expect(await count('completed')).toBe(5)
})

it('gives the turn on when the picture is stored', async () => {
  useEngines(scripted('engine', { start: [picture] }))
  const { run, count } = await fiveJobs()
  const put = env.IMAGES.put.bind(env.IMAGES)
  let [held, most] = [0, 0]
  vi.spyOn(env.IMAGES, 'put').mockImplementation(async (...args: Parameters<typeof put>) => {
    most = Math.max(most, ++held)
    await scheduler.wait(50)
    held--
    return put(...args)
  })
  await run()
  expect(most).toBeLessThanOrEqual(2)
  expect(await count('completed')).toBe(5)
})
