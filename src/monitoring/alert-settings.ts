// The settings of alerts. They are not part of platform/settings, so that a mistake in them fails /health and
// the deployment and no request of a customer, and that alerts tell mistakes in the other settings.
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { isPublicUrl } from '../platform/public-deployment.ts'
import { optionalText, optionalUrl, perEnv } from '../platform/settings.ts'

export const ALERT_FORMATS = ['json', 'slack', 'pagerduty'] as const

/** Contains secrets: never log it. */
const AlertSettings = z
  .object({
    ALERT_URL: optionalUrl,
    ALERT_FORMAT: optionalText.pipe(
      z.enum(ALERT_FORMATS, `must be ${ALERT_FORMATS.join(', ')}`).default('json'),
    ),
    /** Of a service in PagerDuty. */
    ALERT_ROUTING_KEY: optionalText,
    ALERT_MAIL: optionalText.pipe(z.email('must be an email address').optional()),
    ANALYTICS_ACCOUNT_ID: optionalText.pipe(
      z
        .string()
        .regex(/^[\da-f]{32}$/, 'must be the id of a Cloudflare account')
        .optional(),
    ),
    ANALYTICS_DATASET: optionalText.pipe(
      z.string().regex(/^\w+$/, 'must be the name of a dataset').optional(),
    ),
    ANALYTICS_TOKEN: optionalText,
    BASE_URL: optionalUrl,
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
    const analytics = [vars.ANALYTICS_ACCOUNT_ID, vars.ANALYTICS_DATASET, vars.ANALYTICS_TOKEN]
    if (new Set(analytics.map(Boolean)).size > 1) {
      report(
        'ANALYTICS_TOKEN',
        'requires ANALYTICS_ACCOUNT_ID and ANALYTICS_DATASET, and they require it',
      )
    }
  })

export type AlertSettings = z.infer<typeof AlertSettings>

/**
 * The settings of alerts.
 * @throws AppError validation_error that names each wrong variable and what it must be, never its value
 */
export const alertSettingsOf = perEnv((env): AlertSettings => {
  const { data, error } = AlertSettings.safeParse(env)
  if (data) return data
  const problems = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  throw new AppError('validation_error', `The alerts are not configured: ${problems.join('; ')}`)
})

const CHANNELS = ['ALERT_URL', 'ALERT_MAIL'] as const
/** Named as the setting with its address. */
export type Channel = (typeof CHANNELS)[number]

/** Where alerts are sent. None: no alert is evaluated. @throws Error as `alertSettingsOf` */
export function alertChannels(env: Env): Channel[] {
  const settings = alertSettingsOf(env)
  return CHANNELS.filter((channel) => settings[channel] !== undefined)
}
