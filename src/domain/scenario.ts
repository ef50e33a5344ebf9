// Scenarios of test mode: an image URL on the host test.invalid (reserved by RFC 6761, so no real image
// has it) makes the job wait, fail or be withdrawn, or makes the submission return an error.
import { hostOf } from './host.ts'
import { JOB_ERROR_CODES, type JobErrorCode } from './job.ts'

export const SCENARIO_HOST = 'test.invalid'
const MAX_SECONDS = 60

/** The errors that a submission can be rejected with. */
export const REJECTIONS = [
  'insufficient_credits',
  'account_suspended',
  'rate_limit_exceeded',
  'internal_error',
  'api_key_revoked',
  'workspace_not_found',
  'idempotency_key_reused',
] as const
export type ScenarioRejection = (typeof REJECTIONS)[number]

export interface Scenario {
  /** How long the job stays pending. */
  pendingSeconds: number
  /** How long it stays in processing. */
  delaySeconds: number
  errorCode: JobErrorCode | null
  /** Whether the service withdraws the job instead of processing it. */
  isWithdrawn: boolean
}

/** Whether a well-formed URL is a scenario. */
export const isScenario = (url: string): boolean => hostOf(new URL(url)) === SCENARIO_HOST

const SECONDS = `must end in 0 to ${MAX_SECONDS} whole seconds`
const oneOf = (values: readonly string[], value: string, after: string) =>
  values.includes(value) ? null : `must end in one of ${values.join(', ')} after ${after}`

/** For each action with a value, the problem of the value; null when it is valid. */
const PROBLEMS = new Map<string, (value: string) => string | null>([
  ['fail', (value) => oneOf(JOB_ERROR_CODES, value, '/fail/')],
  ['delay', (value) => (isSeconds(value) ? null : `${SECONDS} after /delay/`)],
  ['pending', (value) => (isSeconds(value) ? null : `${SECONDS} after /pending/`)],
  ['refuse', (value) => oneOf(REJECTIONS, value, '/refuse/')],
])

/**
 * Validates a scenario URL. Other paths, such as /model.jpg, are images without a scenario.
 * @returns a message that follows the field's name; null when valid
 */
export function scenarioProblem(url: string): string | null {
  const { action, value } = stepOf(url)
  return PROBLEMS.get(action)?.(value) ?? null
}

/** Combines the scenarios of both URLs: the longer times, then the first failure. */
export function scenarioOf(urls: (string | null)[]): Scenario {
  const steps = stepsOf(urls)
  const secondsOf = (action: string) =>
    Math.max(0, ...steps.filter((step) => step.action === action).map(({ value }) => Number(value)))
  return {
    pendingSeconds: secondsOf('pending'),
    delaySeconds: secondsOf('delay'),
    errorCode: firstOf(JOB_ERROR_CODES, 'fail', steps) ?? null,
    isWithdrawn: steps.some(({ action }) => action === 'withdraw'),
  }
}

/** The error that the submission of these URLs returns; undefined if it is accepted. */
export const rejectionOf = (urls: string[]): ScenarioRejection | undefined =>
  firstOf(REJECTIONS, 'refuse', stepsOf(urls))

/** The value of the first step with an action, if the action has such a value. */
const firstOf = <T extends string>(values: readonly T[], action: string, steps: Step[]) =>
  steps
    .filter((step) => step.action === action)
    .map((step) => values.find((value) => value === step.value))
    .find((value) => value !== undefined)

type Step = ReturnType<typeof stepOf>

const stepsOf = (urls: (string | null)[]) =>
  urls
    .filter((url) => url !== null)
    .filter(isScenario)
    .map(stepOf)

function stepOf(url: string): { action: string; value: string } {
  const [, action = '', value = ''] = new URL(url).pathname.split('/')
  return { action, value }
}

const isSeconds = (text: string) => /^\d{1,2}$/.test(text) && Number(text) <= MAX_SECONDS
