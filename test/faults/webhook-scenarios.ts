// The scenarios of added webhook endpoints. Faults are injected only into `run`.
import { FaultInjector } from './fault-injector.ts'
import type { Harness } from './harness.ts'
import { consumeAll, consumeOne, submitted, type Scenario } from './scenarios.ts'

const noFaults = () => new FaultInjector()

/** Submits a job of an organisation with an added endpoint, and of its own URL. */
async function submittedWithEndpoint(harness: Harness): Promise<string> {
  await harness.addEndpoint()
  return submitted(harness)
}

export const WEBHOOK_SCENARIOS: Scenario[] = [
  {
    name: 'process with an added endpoint',
    prepare: submittedWithEndpoint,
    run: (harness, faultInjector) => consumeOne(harness, faultInjector, 'tryon-jobs'),
  },
  {
    name: 'cancel with an added endpoint',
    prepare: submittedWithEndpoint,
    run: (harness, faultInjector, jobId) =>
      harness.request(faultInjector, harness.shop.keys.live, 'DELETE', `/v1/jobs/${jobId}`),
  },
  {
    name: 'deliver to an added endpoint with retries',
    async prepare(harness) {
      await harness.addEndpoint()
      harness.rejections = 1
      const jobId = await submitted(harness, { webhook_url: undefined })
      await consumeOne(harness, noFaults(), 'tryon-jobs')
      return jobId
    },
    run: (harness, faultInjector) => consumeAll(harness, faultInjector, 'tryon-webhooks'),
  },
]
