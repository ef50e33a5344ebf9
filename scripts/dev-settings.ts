// The settings of `npm run dev`.
import { hasVar } from './wrangler.ts'

const DEFAULTS = {
  OUTPUT_SIGNING_SECRET: 'for-development-only-not-a-secret',
  AUTH_SECRET: 'for-development-only-also-no-secret',
  ENCRYPTION_KEY: 'for-development-only-no-secret-either',
  DEV_MAILBOX: 'true',
  // Webhook receivers and images on this computer.
  ALLOW_PRIVATE_URLS: 'true',
}

/**
 * The defaults as arguments of wrangler, without the names that the arguments or .dev.vars set: wrangler
 * prefers `--var` to .dev.vars. A name without a value in .dev.vars is not set.
 * @param args of `npm run dev`
 * @param devVars the text of .dev.vars; empty if there is no such file
 */
export function defaultVars(args: string[], devVars: string): string[] {
  const names = new Set(
    [...devVars.matchAll(/^[^\S\n]*(?:export\s+)?(\w+)[^\S\n]*=[^\S\n]*[^\s#]/gm)].map(
      ([, name]) => name,
    ),
  )
  return Object.entries(DEFAULTS)
    .filter(([name]) => !names.has(name) && !hasVar(args, name))
    .flatMap(([name, value]) => ['--var', `${name}:${value}`])
}
