// The steps of `npm run provision`. Each one looks first and creates what is missing, so the command can
// stop anywhere and run again. No step changes or deletes anything that exists.
import { z } from 'zod'
import { MAX_RETENTION_DAYS, RETENTION_DAYS, UPLOAD_TTL_SECONDS } from '../../src/domain/limits.ts'
import { mailStep } from './mail.ts'
import { secretSteps } from './secrets.ts'
import { created, exists, variableStep, type Context, type Line } from './step.ts'

/**
 * All steps, in the order in which a deployment needs them.
 * @throws ProvisionError at the first step that fails; later steps have not run
 */
export async function* provisionSteps(context: Context): AsyncGenerator<Line> {
  yield* databaseSteps(context)
  yield* queueSteps(context)
  for (const bucket of context.config.buckets) yield* bucketSteps(context, bucket)
  yield* secretSteps(context)
  yield variableStep(context, 'BASE_URL', 'the public https URL of the service, without a path')
  yield await mailStep(context)
}

async function* databaseSteps(context: Context): AsyncGenerator<Line> {
  const { api, account, config } = context
  const path = `${account}/d1/database`
  const permission = 'D1: Edit'
  const { jurisdiction } = config
  const Database = z.object({ name: z.string(), jurisdiction: z.string().nullish() })
  const existing = await api.list({ path, permission }, Database)
  // Two bindings may share a database.
  for (const name of new Set(config.databases.map((database) => database.name))) {
    const what = `D1 database ${name}${jurisdiction ? ` in the jurisdiction ${jurisdiction}` : ''}`
    const present = existing.find((database) => database.name === name)
    if (present && jurisdiction && present.jurisdiction !== jurisdiction) {
      const todo = `The database exists elsewhere (jurisdiction: ${present.jurisdiction ?? 'none'}), which cannot be changed. Give this environment another database_name in wrangler.toml.`
      yield { status: 'needs you', what, todo }
    } else if (present) yield exists(what)
    else {
      const body = { name, ...(jurisdiction && { jurisdiction }) }
      const create = { method: 'POST', path, body, permission } as const
      yield await created(context, what, () => api.call(create, z.unknown()))
    }
  }
}

async function* queueSteps(context: Context): AsyncGenerator<Line> {
  const { api, account, config } = context
  const path = `${account}/queues`
  const permission = 'Queues: Edit'
  const existing = await api.list({ path, permission }, z.object({ queue_name: z.string() }))
  const names = new Set(existing.map(({ queue_name: name }) => name))
  for (const name of config.queues) {
    const what = `queue ${name}`
    if (names.has(name)) yield exists(what)
    else {
      const create = { method: 'POST', path, body: { queue_name: name }, permission } as const
      yield await created(context, what, () => api.call(create, z.unknown()))
    }
  }
}

const DAY_SECONDS = 24 * 60 * 60

/**
 * A fallback for the deletions of the service, so each rule is a day later (docs/retention.md). Thumbnails are
 * created again when they are missing.
 */
const LIFECYCLE_DAYS = {
  inputs: RETENTION_DAYS.inputs,
  uploads: UPLOAD_TTL_SECONDS / DAY_SECONDS + 1,
  outputs: MAX_RETENTION_DAYS + 1,
  thumbnails: 7,
}

const Rule = z.looseObject({
  id: z.string(),
  enabled: z.boolean(),
  conditions: z.looseObject({ prefix: z.string().optional() }).optional(),
  deleteObjectsTransition: z
    .looseObject({ condition: z.looseObject({ type: z.string(), maxAge: z.number().optional() }) })
    .optional(),
})
type Rule = z.infer<typeof Rule>

async function* bucketSteps(context: Context, bucket: string): AsyncGenerator<Line> {
  const { api, account, config, dryRun } = context
  const { jurisdiction } = config
  const permission = 'Workers R2 Storage: Edit'
  // Each jurisdiction has buckets of its own, so the same name elsewhere is another bucket.
  const headers = jurisdiction && { 'cf-r2-jurisdiction': jurisdiction }
  const path = `${account}/r2/buckets`
  const what = `R2 bucket ${bucket}${jurisdiction ? ` in the jurisdiction ${jurisdiction}` : ''}`
  const isThere = await api.call({ path: `${path}/${bucket}`, permission, headers }, z.unknown())
  if (isThere) yield exists(what)
  else {
    const create = { method: 'POST', path, body: { name: bucket }, permission, headers } as const
    yield await created(context, what, () => api.call(create, z.unknown()))
  }

  const lifecycle = { path: `${path}/${bucket}/lifecycle`, permission, headers }
  const rules =
    !isThere && dryRun
      ? []
      : ((await api.call(lifecycle, z.object({ rules: z.array(Rule).default([]) })))?.rules ?? [])
  const missing: Rule[] = []
  for (const [id, days] of Object.entries(LIFECYCLE_DAYS)) {
    const rule = ruleOf(id, days)
    const title = `lifecycle rule ${id}: ${bucket}/${id}/ is deleted after ${days} ${days === 1 ? 'day' : 'days'}`
    const present = rules.find((other) => other.id === id)
    if (!present) missing.push(rule)
    else if (same(present, rule)) yield exists(title)
    else {
      const todo = `The bucket has a different rule "${id}". Change it in the dashboard, or delete it and run the command again.`
      yield { status: 'needs you', what: title, todo }
    }
  }
  if (missing.length === 0) return
  // The request replaces all rules, so it contains the existing ones.
  const put = { ...lifecycle, method: 'PUT', body: { rules: [...rules, ...missing] } } as const
  const names = missing.map(({ id }) => id).join(', ')
  yield await created(context, `lifecycle rules ${names} of ${bucket}`, () =>
    api.call(put, z.unknown()),
  )
}

function ruleOf(id: string, days: number): Rule {
  return {
    id,
    enabled: true,
    conditions: { prefix: `${id}/` },
    deleteObjectsTransition: { condition: { type: 'Age', maxAge: days * DAY_SECONDS } },
  }
}

function same(one: Rule, other: Rule): boolean {
  const textOf = ({ enabled, conditions, deleteObjectsTransition: deletion }: Rule) =>
    JSON.stringify([
      enabled,
      conditions?.prefix,
      deletion?.condition.type,
      deletion?.condition.maxAge,
    ])
  return textOf(one) === textOf(other)
}
