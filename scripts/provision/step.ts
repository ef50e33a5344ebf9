// What the steps of `npm run provision` share: their context, and the line that each one reports.
import type { DeploymentConfig } from '../wrangler-config.ts'
import type { CloudflareApi } from './cloudflare-api.ts'

export interface Context {
  api: CloudflareApi
  /** The path of the account in the API. */
  account: string
  config: DeploymentConfig
  /** The folder of the file with generated secrets. */
  secretsFolder: string
  dryRun: boolean
}

export interface Line {
  status: 'exists' | 'created' | 'would create' | 'needs you'
  what: string
  /** What the operator must do. */
  todo?: string
}

/** Creates what is missing, except in a dry run. */
export async function created(
  { dryRun }: Context,
  what: string,
  create: () => Promise<unknown>,
): Promise<Line> {
  if (dryRun) return { status: 'would create', what }
  await create()
  return { status: 'created', what }
}

export const exists = (what: string): Line => ({ status: 'exists', what })

/** Variables are part of wrangler.toml, so the command only checks them. */
export function variableStep({ config }: Context, name: string, meaning: string): Line {
  const value = config.vars.get(name)
  if (value) return exists(`variable ${name} = ${value}`)
  const section = config.environment ? `[env.${config.environment}.vars]` : '[vars]'
  const todo = `Set ${name} in ${section} of wrangler.toml to ${meaning}. Without it, the console sends no mail.`
  return { status: 'needs you', what: `variable ${name}`, todo }
}
