// 5. Ten thousand jobs of twenty organisations at once, with cancels, failures and duplicate
// messages. At the end every invariant holds and nothing is lost.
import { violations } from '../test/support/invariants.ts'
import type { Facts } from '../test/support/invariants.ts'
import { door, newShop } from './harness.ts'
import type { Shop, Stand } from './harness.ts'

const ORGANISATIONS = 20
const AT_ONCE = 40
const MAX_WAIT_MS = 180_000

/** Runs the soak and counts up. */
export async function soak(stand: Stand, jobs: number) {
  await door(stand, 'refuse?rate=0.05')
  const shops: Shop[] = []
  for (let n = 0; n < ORGANISATIONS; n++) shops.push(await newShop(stand.counted))
  const begun = Date.now()
  const accepted: string[] = []
  let [cancelled, duplicates] = [0, 0]
  let next = 0
  const client = async () => {
    while (next++ < jobs) {
      const shop = shops[Math.floor(Math.random() * shops.length)] as Shop
      const jobId = await submit(stand, shop)
      accepted.push(jobId)
      const dice = Math.random()
      if (dice < 0.05 && (await cancel(stand, shop, jobId))) cancelled++
      else if (dice < 0.1) {
        duplicates++
        await door(stand, 'duplicates', [jobId])
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, client))
  const submittedMs = Date.now() - begun
  await quiet(stand, shops)
  const totalMs = Date.now() - begun

  const received = await door<string[]>(stand, 'received')
  const wrong: string[] = []
  const byStatus: Record<string, number> = {}
  let drift = 0
  const known = new Set<string>()
  for (const shop of shops) {
    const facts = await factsOf(stand, shop, received)
    wrong.push(...violations(facts))
    for (const { id, status } of facts.jobs) {
      known.add(id)
      byStatus[status] = (byStatus[status] ?? 0) + 1
    }
    const { granted, balance, reserved, consumed } = facts.totals
    const completed = facts.jobs.filter((job) => job.mode === 'live' && job.status === 'completed')
    drift += Math.abs(granted - balance - reserved - consumed)
    drift += Math.abs(consumed - completed.length) + reserved
  }
  const lost = accepted.filter((id) => !known.has(id)).length + jobs - accepted.length
  return {
    jobs: accepted.length,
    organisations: ORGANISATIONS,
    byStatus,
    cancelled,
    duplicates,
    deliveries: received.length,
    submittedSeconds: Math.round(submittedMs / 1_000),
    totalSeconds: Math.round(totalMs / 1_000),
    violations: wrong.slice(0, 20),
    lost,
    drift,
  }
}

/** Half in each mode, a twentieth bound to fail, a quarter with a webhook. */
async function submit(stand: Stand, { keys }: Shop): Promise<string> {
  const mode = Math.random() < 0.5 ? 'live' : 'test'
  const fails = Math.random() < 0.05
  const failure =
    mode === 'live'
      ? 'https://cdn.soak.test/missing'
      : 'https://test.invalid/fail/generation_failed'
  const answer = await fetch(`${stand.counted}/v1/tryon`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${keys[mode]}` },
    body: JSON.stringify({
      model_image_url: 'https://cdn.soak.test/model',
      garment_image_url: fails ? failure : 'https://cdn.soak.test/garment',
      ...(Math.random() < 0.25 && { webhook_url: 'https://hooks.soak.test/try-on' }),
    }),
  })
  if (answer.status !== 202) throw new Error(`a submission was answered ${answer.status}`)
  return ((await answer.json()) as { job_id: string }).job_id
}

async function cancel(stand: Stand, { keys }: Shop, jobId: string): Promise<boolean> {
  const answer = await fetch(`${stand.counted}/v1/jobs/${jobId}`, {
    method: 'DELETE',
    headers: { Authorization: `Bearer ${keys.live}` },
  })
  await answer.arrayBuffer()
  return answer.status === 200
}

async function quiet({ countedDatabase, counted }: Stand, shops: Shop[]): Promise<void> {
  const ids = shops.map(({ orgId }) => `'${orgId}'`).join()
  const sql = `SELECT
    (SELECT count(*) FROM jobs WHERE status IN ('pending', 'processing') AND organisation_id IN (${ids})) +
    (SELECT count(*) FROM webhook_events WHERE status IN ('pending', 'retrying') AND organisation_id IN (${ids})) AS n`
  const until = Date.now() + MAX_WAIT_MS
  for (let round = 0; Date.now() < until; round++) {
    if ((await countedDatabase.prepare(sql).first<number>('n')) === 0) break
    if (round % 60 === 59) await fetch(`${counted}/bench/sweep`)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000)) // the last credits, after the last row
}

async function factsOf(stand: Stand, { orgId }: Shop, received: string[]): Promise<Facts> {
  const ledger = await door<Pick<Facts, 'totals' | 'entries'>>(stand, `ledger?org=${orgId}`)
  const all = async <T>(sql: string) =>
    (await stand.countedDatabase.prepare(sql).bind(orgId).all<T>()).results
  const jobs = await all<Facts['jobs'][number]>(
    'SELECT id, mode, status, webhook_url AS webhookUrl FROM jobs WHERE organisation_id = ?',
  )
  const events = await all<Facts['events'][number]>(
    'SELECT id, job_id AS jobId, status FROM webhook_events WHERE organisation_id = ?',
  )
  const own = new Set(events.map(({ id }) => id))
  // A delivery may come twice, and a receiver that refused four times has had its chances.
  const refused = new Set(events.filter(({ status }) => status === 'failed').map(({ id }) => id))
  return {
    ...ledger,
    jobs: jobs.map((job) =>
      refused.has(`evt_${job.id.slice(4)}`) ? { ...job, webhookUrl: null } : job,
    ),
    events: events.filter(({ id }) => !refused.has(id)),
    received: received.filter((id) => own.has(id) && !refused.has(id)),
  }
}
