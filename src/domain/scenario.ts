// Scenarios of test mode: an image URL on the host test.invalid (reserved by RFC 6761, so no real image
// has it) makes the job wait, fail or be rejected.
import { hostOf } from './host.ts'
import { JOB_ERROR_CODES } from './job.ts'
import type { JobErrorCode } from './job.ts'

export const SCENARIO_HOST = 'test.invalid'
const MAX_DELAY_SECONDS = 60

export interface Scenario {
  delaySeconds: number
  errorCode: JobErrorCode | null
}

/** Whether a well-formed URL is a scenario. */
export const isScenario = (url: string): boolean => hostOf(new URL(url)) === SCENARIO_HOST

/** Validates a scenario URL. @returns a message that follows the field's name; null when valid */
export function scenarioProblem(url: string): string | null {
  const [, action, value = ''] = new URL(url).pathname.split('/')
  if (action === 'fail' && !isErrorCode(value)) {
    return `must end in one of ${JOB_ERROR_CODES.join(', ')} after /fail/`
  }
  if (action === 'delay' && !(/^\d{1,2}$/.test(value) && Number(value) <= MAX_DELAY_SECONDS)) {
    return `must end in 0 to ${MAX_DELAY_SECONDS} whole seconds after /delay/`
  }
  return null
}

/** Combines the scenarios of both URLs: the longer delay, then the first failure. */
export function scenarioOf(urls: (string | null)[]): Scenario {
  const steps = urls
    .filter((url) => url !== null)
    .filter(isScenario)
    .map((url) => new URL(url).pathname.split('/'))
  const delays = steps
    .filter(([, action]) => action === 'delay')
    .map(([, , value]) => Number(value))
  const failures = steps.flatMap(([, action, value = '']) =>
    action === 'fail' && isErrorCode(value) ? [value] : [],
  )
  return { delaySeconds: Math.max(0, ...delays), errorCode: failures[0] ?? null }
}

const isErrorCode = (text: string): text is JobErrorCode =>
  (JOB_ERROR_CODES as readonly string[]).includes(text)
