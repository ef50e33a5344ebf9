// Tells addresses at work from those of consumer mail services, by a list of the latter.
import freeProviders from 'email-providers/all.json' with { type: 'json' }

const FREE_PROVIDERS = new Set<string>(freeProviders)

/** Whether an address belongs to a consumer mail provider, also on a subdomain of one. */
export function isFreeEmail(email: string): boolean {
  const labels = email
    .slice(email.lastIndexOf('@') + 1)
    .toLowerCase()
    .replace(/\.$/, '')
    .split('.')
  return labels.some((_, index) => FREE_PROVIDERS.has(labels.slice(index).join('.')))
}
