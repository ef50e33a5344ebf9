// 1. Platform operations per endpoint and per job. Counts, so the results do not depend on the machine.
import type { Counts } from './instrumented.ts'
import { PRICES_AS_OF, priceOfAMillion } from './prices.ts'
import { control, createOrganisation, post, TRY_ON, type Harness } from './harness.ts'

const WITH_WEBHOOK = { ...TRY_ON, webhook_url: 'https://hooks.bench.test/try-on' }

/** Counts of every endpoint and of whole jobs, and the price of a million jobs. */
export async function measureBudget(harness: Harness) {
  const organisation = await createOrganisation(harness.instrumented)
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${harness.instrumented}${path}`, {
      method,
      headers: { Authorization: `Bearer ${organisation.keys.live}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as { job_id: string; status: string }
  }
  const waitForQueues = () => new Promise((resolve) => setTimeout(resolve, 2_000))
  // The request log is written a second after a request, once for many. It does not belong to one.
  const waitForRequestLog = () => new Promise((resolve) => setTimeout(resolve, 1_500))
  const countsOf = async (work: () => Promise<unknown>): Promise<Counts> => {
    await waitForRequestLog()
    await control(harness, 'counts')
    await work()
    return control(harness, 'counts')
  }
  await send('GET', '/v1/account') // warms the Organisation
  const done = await send('POST', '/v1/tryon', WITH_WEBHOOK)
  await waitForQueues()
  await control(harness, 'drop-messages?on=true')
  let submitted = ''
  const endpoints: Record<string, Counts> = {
    'a malformed key': await countsOf(() => fetch(`${harness.instrumented}/v1/account`)),
    'POST /v1/tryon, live': await countsOf(async () => {
      submitted = (await send('POST', '/v1/tryon', WITH_WEBHOOK)).job_id
    }),
    'POST /v1/tryon, test': await countsOf(() =>
      post(`${harness.instrumented}/v1/tryon`, organisation.keys.test, WITH_WEBHOOK),
    ),
    'GET /v1/jobs/{id}': await countsOf(() => send('GET', `/v1/jobs/${done.job_id}`)),
    'GET /v1/jobs': await countsOf(() => send('GET', '/v1/jobs')),
    'DELETE /v1/jobs/{id}': await countsOf(() => send('DELETE', `/v1/jobs/${submitted}`)),
    'GET /v1/workspaces': await countsOf(() => send('GET', '/v1/workspaces')),
    'GET /v1/account': await countsOf(() => send('GET', '/v1/account')),
  }
  await control(harness, 'drop-messages?on=false')
  const countsOfJob = (mode: 'live' | 'test', request: object) =>
    countsOf(async () => {
      await post(`${harness.instrumented}/v1/tryon`, organisation.keys[mode], request)
      await waitForQueues()
    })
  const missing = { ...TRY_ON, model_image_url: 'https://cdn.bench.test/missing' }
  const job = {
    'live, with webhook': await countsOfJob('live', WITH_WEBHOOK),
    'live, without webhook': await countsOfJob('live', TRY_ON),
    'test, without webhook': await countsOfJob('test', TRY_ON),
    'live, failed': await countsOfJob('live', missing),
  }
  return {
    endpoints,
    wholeJob: job,
    // Worker requests: the submission, one request for the result, and two queue consumer invocations.
    pricePerMillionJobs: priceOfAMillion(job['live, with webhook'], 4),
    pricesAsOf: PRICES_AS_OF,
  }
}
