// The service's settings: environment variables and secrets, parsed once per isolate.
import { z } from 'zod'

const flag = z
  .enum(['true', 'false'], 'must be "true" or "false"')
  .default('false')
  .transform((value) => value === 'true')

const optionalText = z
  .string()
  .optional()
  .transform((value) => value || undefined)

const seconds = z
  .string()
  .regex(/^\d+(\s*,\s*\d+)*$/, 'must be whole seconds, separated by commas')
  .transform((text) => text.split(',').map(Number))

const secret = (missing?: string) => z.string(missing).min(32, 'must have at least 32 characters')

const signingSecret = secret('is not set: run `wrangler secret put OUTPUT_SIGNING_SECRET`')

const Settings = z.object({
  BASE_URL: optionalText
    .pipe(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional())
    .transform((url) => url?.replace(/\/+$/, '')),
  OUTPUT_SIGNING_SECRET: signingSecret,
  // Whatever verifies is as good as what signs: a short one could be guessed as well.
  OUTPUT_SIGNING_SECRET_PREVIOUS: optionalText.pipe(signingSecret.optional()),
  ENCRYPTION_KEY: optionalText.pipe(secret().optional()),
  ENCRYPTION_KEY_PREVIOUS: optionalText.pipe(secret().optional()),
  OPERATOR_TOKEN: optionalText,
  ALLOW_PRIVATE_URLS: flag,
  AUTH_SECRET: optionalText,
  ALLOW_FREE_EMAIL: flag,
  DEV_MAILBOX: flag,
  MAIL_FROM: optionalText,
  SUPPORT_EMAIL: optionalText,
  WEBHOOK_RETRY_DELAYS: seconds.default([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]),
  JOB_DEADLINE_SECONDS: z
    .string()
    .regex(/^\d+$/, 'must be whole seconds')
    .default('300')
    .transform(Number)
    // The links to our copies of the pictures live no longer.
    .refine((value) => value >= 1 && value <= 3_600, 'must be 1 to 3600'),
  GENERATION_ENGINE: z.string().default('compositor'),
})

/** Everything the service can be told from outside. Secrets are in here: never log it whole. */
export interface Settings {
  /** What signed links begin with; undefined means the address the client used. */
  baseUrl: string | undefined
  /** The first signs, all are accepted. */
  outputSigningSecrets: string[]
  /** Encrypts stored secrets; undefined stores them in plain text. */
  encryptionKey: string | undefined
  /** Still decrypts what was stored before a rotation. */
  encryptionKeyPrevious: string | undefined
  /** undefined switches the operator API off. */
  operatorToken: string | undefined
  allowPrivateUrls: boolean
  /** Signs sessions and links of the console, which does not run without; the API needs none. */
  authSecret: string | undefined
  /** Whether people may sign up with an address of a consumer mail provider. */
  allowFreeEmail: boolean
  /** Development only: mail is kept in memory and shown on a page instead of being sent. */
  devMailbox: boolean
  /** The sender's address of all mail. */
  mailFrom: string | undefined
  /** Whom people of a suspended organisation are told to write to. */
  supportEmail: string | undefined
  /** Seconds to wait after the 1st, 2nd, … failed attempt. */
  webhookRetryDelaysSeconds: number[]
  /** From the claim to a forced end with `generation_timeout`. */
  jobDeadlineMs: number
  /** Engines to try, in order. */
  generationEngines: string[]
}

/**
 * Caches what is derived from the environment, which is one object for the life of an isolate.
 * @param make runs at the first call for an `env`, and again if it threw
 */
export function perEnv<Value extends object>(make: (env: Env) => Value): (env: Env) => Value {
  const values = new WeakMap<Env, Value>()
  return (env) => {
    let value = values.get(env)
    if (!value) values.set(env, (value = make(env)))
    return value
  }
}

/**
 * The settings of this Worker.
 * @throws Error that names each wrong variable and what it must be, never its value
 */
export const settingsOf = perEnv((env) => parse(env))

function parse(env: Env): Settings {
  const result = Settings.safeParse(env)
  if (!result.success) {
    const complaints = result.error.issues.map(
      (issue) => `${issue.path.join('.')} ${issue.message}`,
    )
    throw new Error(`The Worker is not set up: ${complaints.join('; ')}`)
  }
  const vars = result.data
  return {
    baseUrl: vars.BASE_URL,
    outputSigningSecrets: [vars.OUTPUT_SIGNING_SECRET, vars.OUTPUT_SIGNING_SECRET_PREVIOUS].filter(
      (secret) => secret !== undefined,
    ),
    encryptionKey: vars.ENCRYPTION_KEY,
    encryptionKeyPrevious: vars.ENCRYPTION_KEY_PREVIOUS,
    operatorToken: vars.OPERATOR_TOKEN,
    allowPrivateUrls: vars.ALLOW_PRIVATE_URLS,
    authSecret: vars.AUTH_SECRET,
    allowFreeEmail: vars.ALLOW_FREE_EMAIL,
    devMailbox: vars.DEV_MAILBOX,
    mailFrom: vars.MAIL_FROM,
    supportEmail: vars.SUPPORT_EMAIL,
    webhookRetryDelaysSeconds: vars.WEBHOOK_RETRY_DELAYS,
    jobDeadlineMs: vars.JOB_DEADLINE_SECONDS * 1_000,
    generationEngines: vars.GENERATION_ENGINE.split(',').map((name) => name.trim()),
  }
}
