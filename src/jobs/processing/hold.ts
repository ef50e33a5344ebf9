// How scenarios of test mode hold a job pending. The job's row contains everything: `dueAt` prevents
// the claim, and its URLs contain the scenario.
import { scenarioOf } from '../../domain/scenario.ts'
import type { JobRow } from '../../platform/db/schema.ts'

type Held = Pick<JobRow, 'mode' | 'modelImageUrl' | 'garmentImageUrl' | 'createdAt'>

/** The latest instant of a Date. A job that is due then is never claimed. */
const NEVER = new Date(8.64e15)

export interface Hold {
  /** Until then the job stays pending; `createdAt` without a scenario. */
  until: Date
  /** When the job can be claimed. A job that the service withdraws is never claimed. */
  claimableAt: Date
}

/** The hold of a new or pending job. */
export function holdOf({ mode, modelImageUrl, garmentImageUrl, createdAt }: Held): Hold {
  if (mode !== 'test') return { until: createdAt, claimableAt: createdAt }
  const { pendingSeconds, isWithdrawn } = scenarioOf([modelImageUrl, garmentImageUrl])
  const until = new Date(createdAt.getTime() + pendingSeconds * 1_000)
  return { until, claimableAt: isWithdrawn ? NEVER : until }
}
