// GET /v1/usage: the jobs and credits of each day, also by API key.
import { Hono } from 'hono'
import { z } from 'zod'
import { invalid } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { describeRoute, ok } from '../http/describe-route.ts'
import { validQuery } from '../http/validation.ts'
import type { Mode as ModeOfJobs } from '../domain/job.ts'
import { creditCost, Mode } from '../jobs/present-job.ts'
import { readUsage, USAGE_DAYS, usageByKey, type DayOfUsage } from '../jobs/reports/usage.ts'
import { admittedToRead, scopeOf } from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { errors } from './error-responses.ts'
import { usage as examples } from './examples.ts'
import { ignoredFields } from './ignored-fields.ts'

const DEFAULT_DAYS = 30
const TOO_EARLY = `from must be one of the latest ${USAGE_DAYS} days.`

const dayParameter = (description: string) =>
  z.iso
    .date({
      error: ({ code }) =>
        code === 'invalid_type' ? 'must not be repeated' : 'must be a date such as 2026-11-20',
    })
    .transform((text) => Date.parse(text) / DAY_MS)
    .optional()
    .meta({ description, override: { type: 'string', format: 'date', examples: ['2026-11-20'] } })

const UsageQuery = z.object({
  from: dayParameter(
    `The first day (UTC), one of the latest ${USAGE_DAYS}. By default ${DEFAULT_DAYS - 1} days before \`to\`.`,
  ),
  to: dayParameter('The last day (UTC). By default, and at the latest, today.'),
  group_by: z
    .enum(['api_key'], 'must be api_key')
    .optional()
    .meta({ description: '`api_key`: adds `api_keys`, the usage by API key.' }),
})

const count = (description: string) => z.int().min(0).meta({ description })
const counts = {
  completed: count('The jobs that completed.'),
  failed: count('The jobs that failed.'),
  other: count('The jobs that were cancelled or refunded, and of today also the unfinished ones.'),
  credits_consumed: count('The credits that the completed jobs cost.'),
}
const date = (description: string) => z.iso.date().meta({ description })

const UsageTotal = z.object(counts).meta({ id: 'UsageTotal', description: 'The sum of all days.' })
const UsageDay = z.object({ date: date('The day, in UTC.'), ...counts }).meta({
  id: 'UsageDay',
  description: 'The jobs that were submitted on one day, by their present outcome.',
})

const UsageByKey = z
  .object({
    api_key_id: z.string().nullable().meta({
      description:
        'The API key that submitted the jobs. `console` for the playground and test events of the console. Null for jobs whose key is not known: those of days that were counted before usage was stored by key.',
    }),
    name: z.string().nullable().meta({
      description:
        'The present name of the key, also of a revoked one. Null without a key, and for keys that are no longer stored.',
    }),
    days: z
      .array(UsageDay)
      .max(USAGE_DAYS)
      .meta({ description: 'The days with jobs of the key, oldest first.' }),
    total: UsageTotal,
  })
  .meta({ id: 'UsageByKey', description: 'The jobs and credits of one API key.' })

const Usage = z
  .object({
    mode: Mode.meta({ description: 'The mode of the jobs, which is that of the API key.' }),
    from: date('The first day of the range.'),
    to: date('The last day of the range.'),
    days: z.array(UsageDay).max(USAGE_DAYS).meta({ description: 'Every day, oldest first.' }),
    total: UsageTotal,
    api_keys: z.array(UsageByKey).optional().meta({
      description:
        'Only with `group_by=api_key`: the API keys with jobs in the range, in the order of their ids. Their jobs add up to those of `days`.',
    }),
    is_complete: z.boolean().meta({
      description:
        'False while the latest days have more than 50,000 jobs that are not counted yet. Their counts then lack the oldest jobs until the day after.',
    }),
  })
  .meta({ id: 'Usage', description: 'The jobs and credits of a range of days.' })

export const usage = new Hono<ApiApp>().get(
  '/',
  describeRoute('Account', {
    operationId: 'getUsage',
    summary: 'Get the usage by day and API key',
    description:
      'Returns the jobs and credits of each day (UTC), in the mode of the API key, and with `group_by=api_key` also those of each key. A job counts on the day it was submitted. Numbers can be a minute old.',
    requestParams: { query: UsageQuery },
    responses: {
      '200': ok('The usage of each day.', Usage, { examples, headers: ['Ignored-Fields'] }),
      ...errors({ code: 'validation_error', message: TOO_EARLY }),
    },
  }),
  admittedToRead,
  validQuery(UsageQuery),
  async (c) => {
    const today = Math.floor(Date.now() / DAY_MS)
    const query = c.req.valid('query')
    const to = Math.min(query.to ?? today, today)
    const from = query.from ?? Math.max(to - DEFAULT_DAYS + 1, today - USAGE_DAYS + 1)
    if (from <= today - USAGE_DAYS) throw invalid(TOO_EARLY)
    if (from > to) throw invalid('from must not be after to, or after today.')
    c.header('Ignored-Fields', ignoredFields(c.req.query(), UsageQuery.shape))
    const { mode } = c.get('caller')
    const isByKey = query.group_by !== undefined
    const request = { ...scopeOf(c), mode, withNames: isByKey }
    const { days, names, isComplete } = await readUsage(request)
    const selected = days.filter(({ day }) => day >= from && day <= to)
    return c.json({
      mode,
      from: dateOf(from),
      to: dateOf(to),
      ...presentDays(selected, mode),
      ...(isByKey && {
        api_keys: usageByKey(selected).map(({ id, days: ofKey }) => ({
          api_key_id: id,
          name: names.get(id ?? '') ?? null,
          ...presentDays(ofKey, mode),
        })),
      }),
      is_complete: isComplete,
    } satisfies z.infer<typeof Usage>)
  },
)

function presentDays(selected: DayOfUsage[], mode: ModeOfJobs) {
  const days = selected.map(({ day, completed, failed, other }) => ({
    date: dateOf(day),
    completed,
    failed,
    other,
    credits_consumed: completed * creditCost(mode),
  }))
  const sum = (name: keyof typeof counts) => days.reduce((total, day) => total + day[name], 0)
  return {
    days,
    total: {
      completed: sum('completed'),
      failed: sum('failed'),
      other: sum('other'),
      credits_consumed: sum('credits_consumed'),
    },
  }
}

const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
