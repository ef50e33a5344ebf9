// GET /v1/usage: the jobs and credits of each day.
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '../domain/errors.ts'
import { DAY_MS } from '../domain/limits.ts'
import { describeRoute, ok } from '../http/describe-route.ts'
import { validQuery } from '../http/validation.ts'
import { creditCost, Mode } from '../jobs/present-job.ts'
import { readUsage, USAGE_DAYS } from '../jobs/reports/usage.ts'
import { admitted, keyActor } from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { errors } from './error-responses.ts'
import { usage as examples } from './examples.ts'
import { ignoredFields } from './ignored-fields.ts'

const DEFAULT_DAYS = 30
const TOO_EARLY = `from must be one of the latest ${USAGE_DAYS} days.`

const dayParameter = z.iso
  .date({
    error: ({ code }) =>
      code === 'invalid_type' ? 'must not be repeated' : 'must be a date such as 2026-11-20',
  })
  .transform((text) => Date.parse(text) / DAY_MS)
  .optional()
const describeDay = (description: string) =>
  dayParameter.meta({
    description,
    override: { type: 'string', format: 'date', examples: ['2026-11-20'] },
  })

const UsageQuery = z.object({
  from: describeDay(
    `The first day (UTC), one of the latest ${USAGE_DAYS}. By default ${DEFAULT_DAYS - 1} days before \`to\`.`,
  ),
  to: describeDay('The last day (UTC). By default, and at the latest, today.'),
})

const count = (description: string) => z.int().min(0).meta({ description })
const counts = {
  completed: count('The jobs that completed.'),
  failed: count('The jobs that failed.'),
  other: count('The jobs that were cancelled or refunded, and of today also the unfinished ones.'),
  credits_consumed: count('The credits that the completed jobs cost.'),
}
const date = (description: string) => z.iso.date().meta({ description })

const UsageTotal = z
  .object(counts)
  .meta({ id: 'UsageTotal', description: 'The sum of all days of the range.' })
const UsageDay = z.object({ date: date('The day, in UTC.'), ...counts }).meta({
  id: 'UsageDay',
  description: 'The jobs that were submitted on one day, by their present outcome.',
})

const Usage = z
  .object({
    mode: Mode.meta({ description: 'The mode of the jobs, which is that of the API key.' }),
    from: date('The first day of the range.'),
    to: date('The last day of the range.'),
    days: z.array(UsageDay).max(USAGE_DAYS).meta({ description: 'Every day, oldest first.' }),
    total: UsageTotal,
    is_complete: z.boolean().meta({
      description:
        'False while the latest days have more than 50,000 jobs that are not counted yet. Their counts then lack the oldest jobs until the day after.',
    }),
  })
  .meta({ id: 'Usage', description: 'The jobs and credits of a range of days.' })

export const usage = new Hono<ApiApp>().get(
  '/',
  describeRoute({
    operationId: 'getUsage',
    summary: 'Get the usage by day',
    description:
      'Returns the jobs and credits of each day (UTC), in the mode of the API key. A job counts on the day it was submitted. Numbers can be a minute old.',
    tags: ['Account'],
    requestParams: { query: UsageQuery },
    responses: {
      '200': ok('The usage of each day.', Usage, { examples, headers: ['Ignored-Fields'] }),
      ...errors({ code: 'validation_error', message: TOO_EARLY }),
    },
  }),
  admitted({ rejectSuspended: false, isRead: true }),
  validQuery(UsageQuery),
  async (c) => {
    const today = Math.floor(Date.now() / DAY_MS)
    const query = c.req.valid('query')
    const to = Math.min(query.to ?? today, today)
    const from = query.from ?? Math.max(to - DEFAULT_DAYS + 1, today - USAGE_DAYS + 1)
    if (from <= today - USAGE_DAYS) throw new AppError('validation_error', TOO_EARLY)
    if (from > to)
      throw new AppError('validation_error', 'from must not be after to, or after today.')
    c.header('Ignored-Fields', ignoredFields(c.req.query(), UsageQuery.shape))
    const { organisationId, mode } = c.get('caller')
    const read = await readUsage({ env: c.env, actor: keyActor(c), organisationId, mode })
    const selected = read.days.filter(({ day }) => day >= from && day <= to)
    const days = selected.map(({ day, completed, failed, other }) => ({
      date: dateOf(day),
      completed,
      failed,
      other,
      credits_consumed: completed * creditCost(mode),
    }))
    const sum = (name: keyof typeof counts) => days.reduce((total, day) => total + day[name], 0)
    return c.json({
      mode,
      from: dateOf(from),
      to: dateOf(to),
      days,
      total: {
        completed: sum('completed'),
        failed: sum('failed'),
        other: sum('other'),
        credits_consumed: sum('credits_consumed'),
      },
      is_complete: read.isComplete,
    } satisfies z.infer<typeof Usage>)
  },
)

const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)
