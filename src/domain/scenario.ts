// Test mode's steering: an image URL on the host test.invalid (reserved by RFC 6761, so it can
// never be a real picture) says how the job shall go.
import { JOB_ERROR_CODES } from './job.ts'
import type { JobErrorCode } from './job.ts'

export const SCENARIO_HOST = 'test.invalid'
const MAX_DELAY_SECONDS = 60

export interface Scenario {
  delaySeconds: number
  errorCode: JobErrorCode | null
}

/** Whether a well-formed URL is one of ours to interpret. */
export const isScenario = (url: string): boolean => hostname(url) === SCENARIO_HOST

/** What is wrong with a scenario URL, in words that follow the field's name; null when fine. */
export function scenarioProblem(url: string): string | null {
  const [, verb, value = ''] = new URL(url).pathname.split('/')
  if (verb === 'fail' && !isErrorCode(value)) {
    return `must end in one of ${JOB_ERROR_CODES.join(', ')} after /fail/`
  }
  if (verb === 'delay' && !(/^\d{1,2}$/.test(value) && Number(value) <= MAX_DELAY_SECONDS)) {
    return `must end in 0 to ${MAX_DELAY_SECONDS} whole seconds after /delay/`
  }
  return null
}

/** What both URLs together ask for: the longer delay, then the first failure. */
export function scenarioOf(urls: (string | null)[]): Scenario {
  const steps = urls
    .filter((url) => url !== null)
    .filter(isScenario)
    .map((url) => new URL(url).pathname.split('/'))
  const delays = steps.filter(([, verb]) => verb === 'delay').map(([, , value]) => Number(value))
  const failures = steps.flatMap(([, verb, value = '']) =>
    verb === 'fail' && isErrorCode(value) ? [value] : [],
  )
  return { delaySeconds: Math.max(0, ...delays), errorCode: failures[0] ?? null }
}

const isErrorCode = (text: string): text is JobErrorCode =>
  (JOB_ERROR_CODES as readonly string[]).includes(text)

/** The host of a URL without the trailing dot of a fully qualified name. */
const hostname = (url: string): string => new URL(url).hostname.replace(/\.$/, '')
