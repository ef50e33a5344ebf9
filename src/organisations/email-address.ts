// Email addresses: their domain, their mailbox, and whether it belongs to a consumer email provider.
import freeProviders from 'email-providers/all.json' with { type: 'json' }

const FREE_PROVIDERS = new Set<string>(freeProviders)
/** The domains of a provider that ignores dots in the local part. */
const GMAIL = /^(gmail|googlemail)\.com$/

/** The domain of an address, in lower case and without a final dot. */
export const domainOf = (email: string): string =>
  email
    .slice(email.lastIndexOf('@') + 1)
    .toLowerCase()
    .replace(/\.$/, '')

/** The address of the mailbox that receives an address's email: without tag and ignored dots. */
export function normaliseAddress(email: string): string {
  const localPart = email.slice(0, email.lastIndexOf('@')).toLowerCase()
  const untagged = localPart.replace(/(?<=.)\+.*$/, '')
  const domain = domainOf(email)
  return GMAIL.test(domain) ? `${untagged.replaceAll('.', '')}@gmail.com` : `${untagged}@${domain}`
}

/** Whether an address belongs to a consumer email provider, also on a subdomain of one. */
export function isFreeEmail(email: string): boolean {
  const labels = domainOf(email).split('.')
  return labels.some((_, index) => FREE_PROVIDERS.has(labels.slice(index).join('.')))
}
