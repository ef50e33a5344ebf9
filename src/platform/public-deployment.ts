// What a deployment with a public address must not use. settings.ts refuses to start with it, and
// `npm run deploy` to deploy it.
import { hostOf } from '../domain/host.ts'
import { isPrivateHost } from './net/private-host.ts'

/** The secrets of `npm run dev`. Everyone can read them here. */
export const DEVELOPMENT_SECRETS = {
  OUTPUT_SIGNING_SECRET: 'for-development-only-not-a-secret',
  AUTH_SECRET: 'for-development-only-also-no-secret',
  ENCRYPTION_KEY: 'for-development-only-no-secret-either',
} as const

const SECRETS = [
  ...Object.keys(DEVELOPMENT_SECRETS),
  'OUTPUT_SIGNING_SECRET_PREVIOUS',
  'ENCRYPTION_KEY_PREVIOUS',
  'OPERATOR_TOKEN',
]
const PUBLISHED: ReadonlySet<unknown> = new Set(Object.values(DEVELOPMENT_SECRETS))

/** Whether users of other networks may reach the host of this URL. Checks the name only. */
export const isPublicUrl = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && !isPrivateHost(hostOf(parsed))
}

/**
 * The variables that are not allowed with the public BASE_URL of a deployment. None without such a BASE_URL.
 * @param vars the environment variables as set, also without the secrets
 * @returns each variable with the words that follow its name, never with its value
 */
export function publicDeploymentProblems(vars: Readonly<Record<string, unknown>>) {
  const { BASE_URL: baseUrl } = vars
  if (typeof baseUrl !== 'string' || !isPublicUrl(baseUrl)) return []
  const problems: { name: string; message: string }[] = []
  if (URL.parse(baseUrl)?.protocol !== 'https:') {
    problems.push({ name: 'BASE_URL', message: 'must start with https:// on a public host' })
  }
  for (const name of ['DEV_MAILBOX', 'ALLOW_PRIVATE_URLS']) {
    if (vars[name] !== 'true') continue
    problems.push({ name, message: 'is for development only: remove it, as BASE_URL is public' })
  }
  for (const name of SECRETS) {
    if (!PUBLISHED.has(vars[name])) continue
    const message = `is a published value: run \`wrangler secret put ${name}\`, as BASE_URL is public`
    problems.push({ name, message })
  }
  return problems
}
