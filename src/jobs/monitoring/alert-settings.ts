// The settings of alerts of this Worker.
import { invalid } from '../../domain/errors.ts'
import { perEnv } from '../../platform/settings.ts'
import { alertProblems, AlertSettings } from './alert-schema.ts'

/**
 * The settings of alerts.
 * @throws AppError validation_error that names each wrong variable and what it must be, never its value
 */
export const alertSettingsOf = perEnv((env): AlertSettings => {
  const { data } = AlertSettings.safeParse(env)
  if (data) return data
  const problems = alertProblems({ ...env }).join('; ')
  throw invalid(`The alerts are not configured: ${problems}`)
})

const CHANNELS = ['ALERT_URL', 'ALERT_MAIL'] as const
/** Named as the setting with its address. */
export type Channel = (typeof CHANNELS)[number]

/** Where alerts are sent. None: no alert is evaluated. @throws Error as `alertSettingsOf` */
export function alertChannels(env: Env): Channel[] {
  const settings = alertSettingsOf(env)
  return CHANNELS.filter((channel) => settings[channel] !== undefined)
}
