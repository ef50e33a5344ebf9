// Checks the sender of mail and its domain. Setting up a domain changes its DNS records, so the operator
// does it (developers.cloudflare.com/email-service).
import { z } from 'zod'
import { PermissionError } from './cloudflare-api.ts'
import { exists, variableStep, type Context, type Line } from './step.ts'

const Zone = z.object({ id: z.string(), name: z.string() })
const Domain = z.object({ name: z.string(), enabled: z.boolean() })

/** @throws ProvisionError, but not for a missing permission: the check is optional */
export async function mailStep(context: Context): Promise<Line> {
  const sender = context.config.vars.get('MAIL_FROM')
  if (!sender) {
    return variableStep(context, 'MAIL_FROM', 'the address that mail is sent from')
  }
  const domain = sender.slice(sender.lastIndexOf('@') + 1).toLowerCase()
  const what = `mail domain ${domain} of MAIL_FROM`
  const setUp = `npx wrangler email sending enable ${domain}`
  try {
    if (await isEnabled(context, domain)) return exists(what)
    const todo = `Set up the domain for Cloudflare Email Service: ${setUp}`
    return { status: 'needs you', what, todo }
  } catch (error) {
    if (!(error instanceof PermissionError)) throw error
    const todo = `The token cannot read the domains of Email Service. Check that "${domain}" is enabled: ${setUp.replace('enable', 'list').replace(` ${domain}`, '')}`
    return { status: 'needs you', what, todo }
  }
}

async function isEnabled({ api, account }: Context, domain: string): Promise<boolean> {
  const permission = 'Email Sending: Read'
  const zones = await api.list({ path: `${account}/email/sending/zones`, permission }, Zone)
  const zone = zones.find(({ name }) => domain === name || domain.endsWith(`.${name}`))
  if (!zone) return false
  const path = `/zones/${zone.id}/email/sending/subdomains`
  const domains = await api.call({ path, permission }, z.array(Domain))
  return domains?.some(({ name, enabled }) => name === domain && enabled) ?? false
}
