// 1. What each endpoint and one whole job ask of the platform. Counts, so the machine is no matter.
import type { Counts } from './instrumented.ts'
import { PRICES_AS_OF, priceOfAMillion } from './prices.ts'
import { door, newShop, post, TRY_ON } from './harness.ts'
import type { Stand } from './harness.ts'

const WEBHOOK = { webhook_url: 'https://hooks.bench.test/try-on' }

/** Every endpoint's counts, a whole job's, and what a million of those cost. */
export async function measureBudget(stand: Stand) {
  const shop = await newShop(stand.counted)
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${stand.counted}${path}`, {
      method,
      headers: { Authorization: `Bearer ${shop.keys.live}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as { job_id: string; status: string }
  }
  const quiet = () => new Promise((resolve) => setTimeout(resolve, 500))
  const counted = async (work: () => Promise<unknown>): Promise<Counts> => {
    await quiet()
    await door(stand, 'counts')
    await work()
    return door(stand, 'counts')
  }
  await send('GET', '/v1/account') // warms the Organisation
  const done = await send('POST', '/v1/tryon', { ...TRY_ON, ...WEBHOOK })
  await quiet()
  await door(stand, 'hold?on=true')
  const order = { ...TRY_ON, ...WEBHOOK }
  let submitted = ''
  const endpoints: Record<string, Counts> = {
    'a malformed key': await counted(() => fetch(`${stand.counted}/v1/account`)),
    'POST /v1/tryon, live': await counted(async () => {
      submitted = (await send('POST', '/v1/tryon', order)).job_id
    }),
    'POST /v1/tryon, test': await counted(() =>
      post(`${stand.counted}/v1/tryon`, shop.keys.test, order),
    ),
    'GET /v1/jobs/{id}': await counted(() => send('GET', `/v1/jobs/${done.job_id}`)),
    'GET /v1/jobs': await counted(() => send('GET', '/v1/jobs')),
    'DELETE /v1/jobs/{id}': await counted(() => send('DELETE', `/v1/jobs/${submitted}`)),
    'GET /v1/workspaces': await counted(() => send('GET', '/v1/workspaces')),
    'GET /v1/account': await counted(() => send('GET', '/v1/account')),
  }
  await door(stand, 'hold?on=false')
  const job = {
    'live, with webhook': await counted(async () => {
      await send('POST', '/v1/tryon', { ...TRY_ON, ...WEBHOOK })
      await quiet()
    }),
    'live, without webhook': await counted(async () => {
      await send('POST', '/v1/tryon', TRY_ON)
      await quiet()
    }),
    'test, without webhook': await counted(async () => {
      await post(`${stand.counted}/v1/tryon`, shop.keys.test, TRY_ON)
      await quiet()
    }),
    'live, failed': await counted(async () => {
      const model_image_url = 'https://cdn.bench.test/missing'
      await send('POST', '/v1/tryon', { ...TRY_ON, model_image_url })
      await quiet()
    }),
  }
  return {
    endpoints,
    wholeJob: job,
    // The submission, one reading of the result, and the two queue consumers' invocations.
    pricePerMillionJobs: priceOfAMillion(job['live, with webhook'], 4),
    pricesAsOf: PRICES_AS_OF,
  }
}
