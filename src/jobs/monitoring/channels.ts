// Sends alerts: to ALERT_URL in the format of the receiver, and to ALERT_MAIL.
import { sendEmail } from '../../mail/send.ts'
import type { AlertSettings } from './alert-schema.ts'
import { alertSettingsOf, type Channel } from './alert-settings.ts'
import { titleOf, type Alert } from './alerts.ts'

const TIMEOUT_MS = 10_000

export interface AlertMessage {
  alert: Pick<Alert, 'name' | 'severity' | 'runbook' | 'budget'>
  status: 'firing' | 'resolved'
  /** What was seen. */
  summary: string
  /** When the condition began, ms since 1970. */
  since: number
}

/** Send a message. @throws Error when the receiver has not accepted it; it names no URL */
export const CHANNELS: Record<Channel, (env: Env, message: AlertMessage) => Promise<void>> = {
  ALERT_URL: sendToUrl,
  ALERT_MAIL: sendMail,
}

async function sendToUrl(env: Env, message: AlertMessage): Promise<void> {
  const settings = alertSettingsOf(env)
  const response = await fetch(settings.ALERT_URL ?? '', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'User-Agent': 'try-on/1.0' },
    body: JSON.stringify(FORMATS[settings.ALERT_FORMAT](detailsOf(env, message), settings)),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    // The path of the URL can be a secret, so the message of the runtime is left out.
    throw new Error(`no response: ${error instanceof Error ? error.name : 'unknown'}`)
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`the receiver responded with ${response.status}`)
}

async function sendMail(env: Env, message: AlertMessage): Promise<void> {
  const { ALERT_MAIL: to = '', BASE_URL: baseUrl = '' } = alertSettingsOf(env)
  const { title, severity, since, runbook, budget, service, ...rest } = detailsOf(env, message)
  const link = `${baseUrl.replace(/\/+$/, '')}/health`
  const email = {
    subject: `[${rest.status}] ${title} (${severity})`,
    paragraphs: [
      rest.summary,
      `Service: ${service}. Since: ${since}. Runbook: ${runbook}.${budget ? ` Objective: ${budget}.` : ''}`,
    ],
    action: 'Health of the service',
    footer: 'You receive this email because this address is ALERT_MAIL of the service.',
  }
  if (!(await sendEmail({ env, to, link, email }))) throw new Error('the mail was not sent')
}

/** What every format contains. */
const detailsOf = (env: Env, { alert, status, summary, since }: AlertMessage) => ({
  alert: alert.name,
  title: titleOf(alert),
  status,
  severity: alert.severity,
  summary,
  since: new Date(since).toISOString(),
  runbook: `docs/runbook.md#${alert.runbook}`,
  budget: alert.budget,
  service: URL.parse(alertSettingsOf(env).BASE_URL ?? '')?.host ?? 'try-on',
})

/** The body of a request, by format. */
const FORMATS: Record<
  AlertSettings['ALERT_FORMAT'],
  (details: ReturnType<typeof detailsOf>, settings: AlertSettings) => object
> = {
  json: (details) => details,
  /** https://api.slack.com/messaging/webhooks */
  slack: ({ title, status, severity, summary, service, runbook }) => ({
    text: slackText(
      `${status === 'firing' ? ':rotating_light:' : ':white_check_mark:'} [${status}] ${title} (${severity}) on ${service}\n${summary}\nRunbook: ${runbook}`,
    ),
  }),
  /** Events API v2. A repeated event with the same key updates the same alert. */
  pagerduty: (
    { alert, status, severity, service, since, title, ...rest },
    { ALERT_ROUTING_KEY },
  ) => ({
    routing_key: ALERT_ROUTING_KEY,
    event_action: status === 'firing' ? 'trigger' : 'resolve',
    dedup_key: `try-on/${service}/${alert}`,
    payload: {
      summary: `${title}: ${rest.summary}`.slice(0, 1_024),
      source: service,
      severity,
      timestamp: since,
      class: alert,
      custom_details: rest,
    },
  }),
}

const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
