// The link to write to support.
import { settingsOf } from '../../platform/settings.ts'

/** A button that writes to support; a text when no address is set. */
export const ContactLink = ({ env, label = 'Contact us' }: { env: Env; label?: string }) => {
  const { supportEmail } = settingsOf(env)
  if (!supportEmail) return <span class="muted">Contact support</span>
  return (
    <a href={`mailto:${supportEmail}`} role="button" class="secondary">
      {label}
    </a>
  )
}
