// The service's settings: environment variables and secrets, parsed once per isolate.
import { z } from 'zod'
import { PAYMENT_PROVIDERS } from '../domain/billing.ts'
import { MAX_SHARD } from './ids.ts'
import { optional, optionalText, optionalUrl } from './optional-settings.ts'
import { perObject } from './per-object.ts'
import { JURISDICTION_PROBLEM, JURISDICTIONS } from './jurisdiction.ts'
import { publicDeploymentProblems } from './public-deployment.ts'

const flag = z
  .enum(['true', 'false'], 'must be "true" or "false"')
  .default('false')
  .transform((value) => value === 'true')

const numbers = (expected: string) =>
  z
    .string()
    .regex(/^\d+(\s*,\s*\d+)*$/, `must be ${expected}, separated by commas`)
    .transform((text) => text.split(',').map(Number))

const secret = (missing?: string) => z.string(missing).min(32, 'must have at least 32 characters')

const signingSecret = secret('is not set: run `wrangler secret put OUTPUT_SIGNING_SECRET`')

/** All settings. Contains secrets: never log it as a whole. */
const Settings = z
  .object({
    BASE_URL: optionalUrl.transform((url) => url?.replace(/\/+$/, '')),
    OUTPUT_SIGNING_SECRET: signingSecret,
    // It still verifies signatures, so it must be as strong as the current secret.
    OUTPUT_SIGNING_SECRET_PREVIOUS: optional(signingSecret),
    ENCRYPTION_KEY: optional(secret()),
    ENCRYPTION_KEY_PREVIOUS: optional(secret()),
    OPERATOR_TOKEN: optional(secret()),
    ALLOW_PRIVATE_URLS: flag,
    D1_READ_REPLICATION: flag,
    AUTH_SECRET: optionalText,
    ALLOW_FREE_EMAIL: flag,
    DEV_MAILBOX: flag,
    JURISDICTION: optional(z.enum(JURISDICTIONS, JURISDICTION_PROBLEM)),
    MAIL_FROM: optionalText,
    SUPPORT_EMAIL: optionalText,
    STATUS_URL: optionalUrl,
    TERMS_URL: optionalUrl,
    PRIVACY_URL: optionalUrl,
    WEBHOOK_RETRY_DELAYS: numbers('whole seconds').default([
      5, 300, 1_800, 7_200, 18_000, 36_000, 36_000,
    ]),
    JOB_DEADLINE_SECONDS: z
      .string()
      .regex(/^\d+$/, 'must be whole seconds')
      .default('300')
      .transform(Number)
      // Links to input copies expire after an hour.
      .refine((value) => value >= 1 && value <= 3_600, 'must be 1 to 3600'),
    OPEN_SHARDS: optional(numbers('numbers of shards')),
    GENERATION_ENGINE: z.string().default('compositor'),
    PAYMENT_PROVIDER: optional(
      z.enum(PAYMENT_PROVIDERS, `must be ${PAYMENT_PROVIDERS.join(' or ')}`),
    ),
    STRIPE_SECRET_KEY: optionalText,
    STRIPE_WEBHOOK_SECRET: optionalText,
    STRIPE_AUTOMATIC_TAX: flag,
  })
  .superRefine((vars, context) => {
    if (vars.PAYMENT_PROVIDER !== 'stripe') return
    for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'] as const) {
      if (vars[name]) continue
      const message = `is not set: run \`wrangler secret put ${name}\``
      context.addIssue({ code: 'custom', path: [name], message })
    }
  })
  .transform((vars) => ({
    /** The beginning of signed links. Undefined: the origin that the client requested. */
    baseUrl: vars.BASE_URL,
    /** The first one signs, all verify. */
    outputSigningSecrets: [vars.OUTPUT_SIGNING_SECRET, vars.OUTPUT_SIGNING_SECRET_PREVIOUS].filter(
      (value) => value !== undefined,
    ),
    /** Encrypts stored secrets. Undefined: they are stored in plain text. */
    encryptionKey: vars.ENCRYPTION_KEY,
    /** Decrypts secrets that were stored before a rotation. */
    encryptionKeyPrevious: vars.ENCRYPTION_KEY_PREVIOUS,
    /** Undefined: the operator API is off. */
    operatorToken: vars.OPERATOR_TOKEN,
    allowPrivateUrls: vars.ALLOW_PRIVATE_URLS,
    /** Whether GET requests read from D1's replicas. */
    readReplication: vars.D1_READ_REPLICATION,
    /** Signs sessions and links of the console, which requires it. The API does not need it. */
    authSecret: vars.AUTH_SECRET,
    /** Whether users may sign up with an address of a consumer mail provider. */
    allowFreeEmail: vars.ALLOW_FREE_EMAIL,
    /** Development only: shows mail on a page and does not send it. */
    devMailbox: vars.DEV_MAILBOX,
    /** Where all Organisations run and are stored. Undefined: anywhere. */
    jurisdiction: vars.JURISDICTION,
    /** The sender's address of all mail. */
    mailFrom: vars.MAIL_FROM,
    /** The contact for members of a suspended organisation. */
    supportEmail: vars.SUPPORT_EMAIL,
    /** Pages of the operator that the console links to. */
    statusUrl: vars.STATUS_URL,
    termsUrl: vars.TERMS_URL,
    privacyUrl: vars.PRIVACY_URL,
    /** Seconds to wait after the 1st, 2nd, … failed attempt. */
    webhookRetryDelaysSeconds: vars.WEBHOOK_RETRY_DELAYS,
    /** Time from the claim until the job fails with `generation_timeout`. */
    jobDeadlineMs: vars.JOB_DEADLINE_SECONDS * 1_000,
    /** The shards that receive new organisations (platform/db/database). Undefined: all. */
    openShards: vars.OPEN_SHARDS,
    /** Engines in the order in which they are tried. */
    generationEngines: vars.GENERATION_ENGINE.split(',').map((name) => name.trim()),
    /** Undefined: the sandbox, except on a public address, where payments are off. */
    paymentProvider: vars.PAYMENT_PROVIDER,
    stripe: {
      secretKey: vars.STRIPE_SECRET_KEY,
      webhookSecret: vars.STRIPE_WEBHOOK_SECRET,
      automaticTax: vars.STRIPE_AUTOMATIC_TAX,
    },
  }))

export type Settings = z.infer<typeof Settings>

/** Caches what is derived from the environment, which is one object for the life of an isolate. */
export const perEnv = <Value extends object>(make: (env: Env) => Value) => perObject(make)

/**
 * The settings of this Worker.
 * @throws Error that names each wrong variable and what it must be, never its value
 */
export const settingsOf = perEnv((env): Settings => {
  const result = Settings.safeParse(env)
  const problems = [
    ...(result.success
      ? unboundShards(env, result.data).map(
          (binding) => `OPEN_SHARDS requires the binding ${binding}`,
        )
      : result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)),
    ...publicDeploymentProblems({ ...env }).map(({ name, message }) => `${name} ${message}`),
  ]
  if (result.success && problems.length === 0) return result.data
  throw new Error(`The Worker is not configured: ${problems.join('; ')}`)
})

/** The missing bindings up to the highest open shard, since the numbers have no gaps. */
function unboundShards(env: Env, { openShards = [] }: Settings): string[] {
  const highest = Math.min(Math.max(-1, ...openShards), MAX_SHARD + 1)
  const bindings = Array.from({ length: highest + 1 }, (_, shard) => `JOBS_DB_${shard}`)
  return bindings.filter((binding) => !Reflect.has(env, binding))
}
