// The schema of the settings of alerts, also for `npm run deploy`. They are not part of platform/settings, so that
// a mistake in them fails /health and the deployment and no request of a customer, and that alerts tell mistakes in
// the other settings.
import { z } from 'zod'
import { isPublicUrl } from '../../platform/public-deployment.ts'
import { optional, optionalText, optionalUrl } from '../../platform/optional-settings.ts'

const ALERT_FORMATS = ['json', 'slack', 'pagerduty'] as const

/** Contains secrets: never log it. */
export const AlertSettings = z
  .object({
    ALERT_URL: optionalUrl,
    ALERT_FORMAT: optionalText.pipe(
      z.enum(ALERT_FORMATS, `must be ${ALERT_FORMATS.join(', ')}`).default('json'),
    ),
    /** Of a service in PagerDuty. */
    ALERT_ROUTING_KEY: optionalText,
    ALERT_MAIL: optional(z.email('must be an email address')),
    ANALYTICS_ACCOUNT_ID: optional(
      z.string().regex(/^[\da-f]{32}$/, 'must be the id of a Cloudflare account'),
    ),
    ANALYTICS_DATASET: optional(z.string().regex(/^\w+$/, 'must be the name of a dataset')),
    ANALYTICS_TOKEN: optionalText,
    BASE_URL: optionalText,
    MAIL_FROM: optionalText,
    DEV_MAILBOX: optionalText,
  })
  .superRefine((vars, context) => {
    const report = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    if (vars.BASE_URL && isPublicUrl(vars.BASE_URL) && vars.ALERT_URL?.startsWith('http:')) {
      report('ALERT_URL', 'must start with https://, as BASE_URL is public')
    }
    if (vars.ALERT_FORMAT === 'pagerduty' && !vars.ALERT_ROUTING_KEY) {
      report('ALERT_ROUTING_KEY', 'is not set: run `wrangler secret put ALERT_ROUTING_KEY`')
    }
    const canSendMail = vars.DEV_MAILBOX === 'true' || (vars.MAIL_FROM && vars.BASE_URL)
    if (vars.ALERT_MAIL && !canSendMail) report('ALERT_MAIL', 'requires MAIL_FROM and BASE_URL')
    // Without the token, the others have no effect, so they can be deployed before it.
    if (vars.ANALYTICS_TOKEN && !(vars.ANALYTICS_ACCOUNT_ID && vars.ANALYTICS_DATASET)) {
      report('ANALYTICS_TOKEN', 'requires ANALYTICS_ACCOUNT_ID and ANALYTICS_DATASET')
    }
  })

export type AlertSettings = z.infer<typeof AlertSettings>

/**
 * Checks the settings of alerts without using them, for a deployment.
 * @param vars the environment variables as set
 * @returns each wrong variable with what it must be, never with its value
 */
export function alertProblems(vars: Readonly<Record<string, unknown>>): string[] {
  const { error } = AlertSettings.safeParse(vars)
  return error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? []
}
