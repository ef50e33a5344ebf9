// Alerts: what is sent, when, and to whom.
import { createExecutionContext, createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import worker from '../../../src/index.ts'
import { evaluateAlerts } from '../../../src/jobs/monitoring/evaluate-alerts.ts'
import { developmentMailbox } from '../../../src/mail/send.ts'
import { firstIdSince } from '../../../src/platform/ids.ts'
import { BASE } from '../../support/client.ts'
import { onEveryShard, spyPrepare } from '../../support/jobs-database.ts'
import { fakeUpstream } from '../../support/upstream.ts'
import { operator } from '../../support/world.ts'

const MINUTE_MS = 60_000
const RECEIVER = 'https://hooks.alerts.test/secret-path'
const ACCOUNT = '0123456789abcdef0123456789abcdef'
const ANALYTICS = {
  ANALYTICS_ACCOUNT_ID: ACCOUNT,
  ANALYTICS_DATASET: 'try_on_metrics_staging',
  ANALYTICS_TOKEN: 'analytics-token',
}
const SQL_API = `https://api.cloudflare.com/client/v4/accounts/${ACCOUNT}/analytics_engine/sql`

const upstream = fakeUpstream()
const start = Date.now()
let lines: string[] = []
/** The status of the receiver's responses. */
let status = 200

/** The environment of a deployment with these settings. */
const deployment = (vars: Record<string, string> = { ALERT_URL: RECEIVER }): Env =>
  Object.assign({ ...env }, vars)

/** All tasks of cron. The alerts come first; other tasks may fail. */
const cron = (deployed: Env) =>
  worker.scheduled(
    createScheduledController({ scheduledTime: new Date(), cron: '* * * * *' }),
    deployed,
  )

/** Evaluates the alerts once, some minutes after the run before. Cron costs much more. */
async function run(deployed: Env, minutes = 1, evaluate = evaluateAlerts) {
  vi.setSystemTime(Date.now() + minutes * MINUTE_MS)
  await evaluate(deployed).catch(() => {})
}

async function runTimes(times: number, deployed: Env, evaluate = evaluateAlerts) {
  for (let n = 0; n < times; n++) await run(deployed, 1, evaluate)
}

type Message = Record<string, unknown> & { alert: string; status: string }
const messages = () => upstream.seen(RECEIVER).map(({ body }) => JSON.parse(body) as Message)
const sent = () => messages().map(({ alert, status }) => `${alert} ${status}`)

const breakImages = () => vi.spyOn(env.IMAGES, 'head').mockRejectedValue(new Error('no bucket'))

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: start })
  status = 200
  lines = []
  for (const level of ['log', 'warn', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line: unknown) => void lines.push(String(line)))
  }
  upstream.on(RECEIVER, () => new Response('ok', { status }))
  await env.DB.exec('DELETE FROM alert_state')
  await onEveryShard('DELETE FROM jobs')
  await onEveryShard('DELETE FROM webhook_events')
})
afterEach(() => {
  const secret = lines.find((line) => /secret-path|routing-key|analytics-token/.test(line))
  vi.useRealTimers()
  if (secret) throw new Error(`A secret is in the log: ${secret}`)
})

describe('an alert', () => {
  it('is sent by cron once after its condition has held, and once when it ends', async () => {
    const deployed = deployment()
    await run(deployed, 1, cron)
    expect(sent()).toEqual([])
    const failing = breakImages()
    await run(deployed, 1, cron)
    expect(sent()).toEqual([])
    await runTimes(3, deployed, cron)
    expect(messages()).toEqual([
      {
        alert: 'health',
        title: 'Health',
        status: 'firing',
        severity: 'critical',
        summary: 'Failing checks: IMAGES.',
        since: new Date(start + 2 * MINUTE_MS).toISOString(),
        runbook: 'docs/runbook.md#health-fails',
        budget: 'API available',
        service: 'try-on',
      },
    ])
    failing.mockRestore()
    await runTimes(3, deployed, cron)
    expect(sent()).toEqual(['health firing', 'health resolved'])
    breakImages()
    await runTimes(2, deployed, cron)
    expect(sent()).toHaveLength(3)
  })

  it('is not sent when its condition ends before it has held', async () => {
    const deployed = deployment()
    for (let n = 0; n < 3; n++) {
      const failing = breakImages()
      await run(deployed)
      failing.mockRestore()
      await run(deployed)
    }
    expect(sent()).toEqual([])
  })

  it('is sent again in the next run while the receiver does not accept it', async () => {
    const deployed = deployment()
    const failing = breakImages()
    status = 500
    await runTimes(3, deployed)
    status = 302
    await run(deployed)
    upstream.on(RECEIVER, () => {
      throw new TypeError(`cannot connect to ${RECEIVER}`)
    })
    await run(deployed)
    expect(sent()).toEqual(Array.from({ length: 4 }, () => 'health firing'))
    upstream.on(RECEIVER, () => new Response('ok', { status }))
    status = 200
    await runTimes(2, deployed)
    expect(sent()).toHaveLength(5)
    failing.mockRestore()
    status = 503
    await run(deployed)
    status = 200
    await runTimes(2, deployed)
    expect(sent().slice(5)).toEqual(['health resolved', 'health resolved'])
  })

  it('goes to ALERT_MAIL as well, and a failing channel repeats it alone', async () => {
    const deployed = deployment({ ALERT_URL: RECEIVER, ALERT_MAIL: 'on-call@try-on.test' })
    breakImages()
    status = 500
    await runTimes(4, deployed)
    const mails = developmentMailbox().filter(({ to }) => to === 'on-call@try-on.test')
    expect(mails).toMatchObject([{ subject: '[firing] Health (critical)' }])
    expect(mails[0]?.text).toContain('Failing checks: IMAGES.')
    expect(mails[0]?.text).toContain('docs/runbook.md#health-fails')
    expect(sent()).toHaveLength(3)
  })

  it('is repeated by the next run when the mail fails', async () => {
    const send = vi.spyOn(env.MAIL, 'send').mockRejectedValue(new Error('no such sender'))
    const deployed = deployment({
      ALERT_MAIL: 'on-call@try-on.test',
      DEV_MAILBOX: 'false',
      BASE_URL: 'https://try-on.example',
      MAIL_FROM: 'hello@try-on.example',
    })
    breakImages()
    await runTimes(2, deployed)
    send.mockResolvedValue({ messageId: 'm1' })
    await runTimes(2, deployed)
    expect(send).toHaveBeenCalledTimes(2)
    expect(send).toHaveBeenLastCalledWith(expect.objectContaining({ to: 'on-call@try-on.test' }))
  })

  it('is sent once while the database of its state fails, and ends afterwards', async () => {
    const deployed = deployment()
    await run(deployed, 1, cron)
    const failing = vi.spyOn(env.DB, 'prepare').mockImplementation(() => {
      throw new Error('D1 is down')
    })
    await runTimes(4, deployed, cron)
    expect(messages()).toMatchObject([
      { alert: 'health', status: 'firing', summary: 'Failing checks: alerts, DB.' },
    ])
    failing.mockRestore()
    await runTimes(2, deployed, cron)
    expect(sent()).toEqual(['health firing', 'health resolved'])
  })

  it('is sent when the other settings are wrong', async () => {
    await runTimes(2, deployment({ ALERT_URL: RECEIVER, BASE_URL: 'shop.example' }), cron)
    expect(messages()[0]?.['summary']).toMatch(/settings/)
  })

  it('is not evaluated without ALERT_URL and ALERT_MAIL', async () => {
    const head = breakImages()
    await runTimes(2, env, cron)
    expect(upstream.seen()).toEqual([])
    expect(head).not.toHaveBeenCalled()
  })
})

describe('the format', () => {
  const bodies = async (vars: Record<string, string>) => {
    const deployed = deployment({ ALERT_URL: RECEIVER, ...vars })
    const failing = breakImages()
    await runTimes(2, deployed)
    failing.mockRestore()
    await run(deployed)
    return messages() as unknown[]
  }

  it('slack is one text', async () => {
    expect(await bodies({ ALERT_FORMAT: 'slack' })).toEqual([
      {
        text: ':rotating_light: [firing] Health (critical) on try-on\nFailing checks: IMAGES.\nRunbook: docs/runbook.md#health-fails',
      },
      { text: expect.stringMatching(/^:white_check_mark: \[resolved\] Health/) },
    ])
  })

  it('pagerduty triggers and resolves an alert with the same key', async () => {
    const vars = { ALERT_FORMAT: 'pagerduty', ALERT_ROUTING_KEY: 'routing-key' }
    expect(await bodies(vars)).toEqual([
      {
        routing_key: 'routing-key',
        event_action: 'trigger',
        dedup_key: 'try-on/try-on/health',
        payload: {
          summary: 'Health: Failing checks: IMAGES.',
          source: 'try-on',
          severity: 'critical',
          timestamp: expect.stringMatching(/Z$/),
          class: 'health',
          custom_details: {
            summary: 'Failing checks: IMAGES.',
            runbook: 'docs/runbook.md#health-fails',
            budget: 'API available',
          },
        },
      },
      expect.objectContaining({ event_action: 'resolve', dedup_key: 'try-on/try-on/health' }),
    ])
  })
})

describe('jobs and webhooks', () => {
  /** Inserts jobs of the last minutes, and gives their ids another beginning for each call. */
  async function insertJobs(count: number, columns: Record<string, string | number>) {
    const row = {
      organisation_id: 'org_1',
      workspace_id: 'ws_1',
      mode: 'live',
      status: 'completed',
      base_url: '',
      created_at: Date.now(),
      due_at: Date.now(),
      ...columns,
    }
    await insert('jobs', 'job', count, row)
  }

  async function insertEvents(count: number, columns: Record<string, string | number>) {
    const at = { created_at: Date.now(), due_at: Date.now() + 60 * MINUTE_MS }
    const row = { job_id: 'job_1', type: 'job.completed', url: '', ...at, ...columns }
    await insert('webhook_events', 'evt', count, row)
  }

  let inserted = 0
  async function insert(
    table: string,
    prefix: 'job' | 'evt',
    count: number,
    row: Record<string, string | number>,
  ) {
    const first = firstIdSince(prefix, Date.now() - 5 * MINUTE_MS + inserted++)
    const names = Object.keys(row)
    await env.JOBS_DB_0.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
       INSERT INTO ${table} (id, ${names.join()})
       SELECT '${first.slice(0, -4)}' || printf('%04d', i), ${names.map(() => '?').join()} FROM n`,
    )
      .bind(...Object.values(row))
      .run()
  }

  const summaries = async () => {
    await runTimes(2, deployment())
    return messages().map(({ alert, summary }) => `${alert}: ${summary}`)
  }

  it('report a job that has been due for ten minutes', async () => {
    const old = Date.now() - 10 * MINUTE_MS
    await insertJobs(2, { status: 'pending', due_at: old, sweep_at: Date.now() + 60 * MINUTE_MS })
    await insertJobs(1, { status: 'processing', due_at: old, sweep_at: 1 })
    const messages = await summaries()
    expect(messages).toEqual(['backlog: Due for 10 minutes: 2 jobs, 0 webhook events.'])
  })

  it('report webhook events that have been due for ten minutes, not those of later attempts', async () => {
    const old = Date.now() - 10 * MINUTE_MS
    const soon = Date.now() + 5 * MINUTE_MS
    await insertEvents(1, { organisation_id: 'org_1', due_at: old, sweep_at: soon })
    await insertEvents(5, {
      organisation_id: 'org_1',
      status: 'retrying',
      due_at: soon,
      sweep_at: soon,
    })
    expect(await summaries()).toEqual(['backlog: Due for 10 minutes: 0 jobs, 1 webhook events.'])
  })

  it('report failed live jobs, of all engines and of each', async () => {
    await insertJobs(30, { engine: 'compositor' })
    await insertJobs(20, { engine: 'fal' })
    await insertJobs(4, { engine: 'fal', status: 'failed', error_code: 'generation_timeout' })
    expect(await summaries()).toEqual([
      'failed_jobs: Failed live jobs of an hour: fal 16.7 % of 24.',
    ])
    await insertJobs(10, { status: 'failed', error_code: 'internal_error' })
    await env.DB.exec('DELETE FROM alert_state')
    expect((await summaries()).at(-1)).toBe(
      'failed_jobs: Failed live jobs of an hour: all engines 21.9 % of 64, fal 16.7 % of 24.',
    )
  })

  it('do not report failures of inputs, of test jobs, of few jobs and of earlier hours', async () => {
    await insertJobs(30, { status: 'failed', error_code: 'person_not_found' })
    await insertJobs(30, { mode: 'test', status: 'failed', error_code: 'internal_error' })
    await insertJobs(3, { status: 'failed', error_code: 'internal_error' })
    expect(await summaries()).toEqual([])
    await onEveryShard('DELETE FROM jobs')
    await insertJobs(19, { status: 'failed', error_code: 'internal_error' })
    expect(await summaries()).toEqual([])
    await insertJobs(19, { status: 'failed', error_code: 'internal_error' })
    vi.setSystemTime(Date.now() + 60 * MINUTE_MS)
    expect(await summaries()).toEqual([])
  })

  it('report undelivered webhooks, without the organisation with the most failures', async () => {
    await insertEvents(90, { organisation_id: 'org_1', status: 'retrying' })
    await insertEvents(40, { organisation_id: 'org_2', status: 'delivered' })
    await insertEvents(9, { organisation_id: 'org_2', status: 'failed' })
    expect(await summaries()).toEqual([])
    await insertEvents(1, { organisation_id: 'org_3', status: 'retrying' })
    expect(await summaries()).toEqual([
      'webhooks: Not delivered: 20.0 % of 50 webhook events of an hour.',
    ])
  })

  it('change nothing while they cannot be read, which is reported after ten minutes', async () => {
    const deployed = deployment()
    await insertJobs(20, { status: 'failed', error_code: 'internal_error' })
    await runTimes(2, deployed)
    const all = vi.spyOn(env.JOBS_DB_0, 'prepare').mockImplementation((query) => {
      if (query.includes('limit')) throw new Error('D1 is down')
      return Object.getPrototypeOf(env.JOBS_DB_0).prepare.call(env.JOBS_DB_0, query)
    })
    await run(deployed)
    await run(deployed, 9)
    expect(sent()).toEqual(['failed_jobs firing'])
    await run(deployed)
    expect(messages().at(-1)).toMatchObject({ alert: 'unread', summary: 'Not read: jobs.' })
    all.mockRestore()
    await run(deployed)
    expect(sent()).toEqual(['failed_jobs firing', 'unread firing', 'unread resolved'])
  })

  it('are read through indexes', async () => {
    const prepare = spyPrepare()
    await run(deployment())
    const queries = new Set(prepare.mock.calls.map(([query]) => query))
    const ofAlerts = [...queries].filter((query) =>
      /^select (1|engine|organisation_id) /.test(query),
    )
    expect(ofAlerts).toHaveLength(4)
    for (const query of ofAlerts) {
      const values = Array.from(query.matchAll(/\?/g), () => null)
      const { results } = await env.JOBS_DB_0.prepare(`EXPLAIN QUERY PLAN ${query}`)
        .bind(...values)
        .all()
      const plan = results.map(({ detail }) => String(detail)).join('\n')
      expect(plan).toMatch(
        /SEARCH \w+ USING ((COVERING )?INDEX|PRIMARY KEY)|SCAN jobs USING INDEX jobs_unfinished/,
      )
      expect(plan).not.toMatch(/SCAN (jobs|webhook_events)$/m)
    }
  })
})

describe('metrics', () => {
  const deployed = () => deployment({ ALERT_URL: RECEIVER, ...ANALYTICS })
  const respond = (row: Record<string, number | string | null>) =>
    upstream.on(SQL_API, () => Response.json({ meta: [], data: [row], rows: 1 }))

  it.each([
    ['dead_letters', 1, 'messages without a retry left: 1 in 10 minutes.'],
    ['circuit_breaker', 2, 'opened circuit breakers: 2 in 10 minutes.'],
    ['cron_fails', 3, 'failed tasks of cron: 3 in 10 minutes.'],
    ['sweep', 100, 'requeued jobs and events: 100 in 10 minutes.'],
    ['reservations', 10, 'reservations left to the alarm: 10 in 60 minutes.'],
    ['mail', 3, 'mails that were not sent: 3 in 60 minutes.'],
    ['payments', 3, 'events of payments that were not accepted: 3 in 60 minutes.'],
  ])('report %s', async (alert, count, summary) => {
    respond({ [alert]: String(count) })
    await run(deployed())
    expect(messages()).toMatchObject([{ alert, summary, status: 'firing' }])
    respond({ [alert]: alert === 'dead_letters' || alert === 'circuit_breaker' ? 0 : count - 1 })
    await run(deployed())
    expect(sent()).toEqual([`${alert} firing`, `${alert} resolved`])
  })

  it('report errors that burn the budget in both windows', async () => {
    const hour = { errors_fast_all_60: 1_000, errors_fast_60: 14 }
    respond({ ...hour, errors_fast_all_5: 100, errors_fast_5: 1 })
    await run(deployed())
    expect(sent()).toEqual([])
    respond({ ...hour, errors_fast_all_5: 100, errors_fast_5: 2 })
    await run(deployed())
    expect(messages()).toMatchObject([
      {
        alert: 'errors_fast',
        summary: '5xx: 1.4 % of 1000 requests to /v1, lately 2.0 % of 100.',
      },
    ])
  })

  it('are read with one query, from the columns of their labels', async () => {
    upstream.on(SQL_API, () => Response.json({ meta: [], data: [], rows: 0 }))
    await run(deployed())
    const [query] = upstream.seen(SQL_API)
    expect(upstream.seen(SQL_API)).toHaveLength(1)
    expect(query?.headers.get('Authorization')).toBe('Bearer analytics-token')
    expect(query?.body).toContain(
      "SUM(IF(blob1 = 'message' AND blob3 = 'dead' AND timestamp > NOW() - INTERVAL '10' MINUTE, 1 * _sample_interval, 0)) AS dead_letters",
    )
    expect(query?.body).toContain(
      "blob1 = 'sweep' AND blob2 != 'reservations' AND timestamp > NOW() - INTERVAL '10' MINUTE, double1 * _sample_interval",
    )
    expect(query?.body).toMatch(/FROM try_on_metrics_staging WHERE .* FORMAT JSON$/)
    expect(sent()).toEqual([])
  })

  it('change nothing while they cannot be read, which is reported after ten minutes', async () => {
    respond({ mail: 5 })
    await run(deployed())
    upstream.on(SQL_API, () => new Response('no permission', { status: 403 }))
    await run(deployed())
    await run(deployed(), 10)
    expect(sent()).toEqual(['mail firing', 'unread firing'])
    expect(messages()[1]).toMatchObject({ summary: 'Not read: metrics.' })
  })
})

describe('/health', () => {
  const health = async (deployed: Env) => {
    const response = await worker.fetch(
      new Request(`${BASE}/health`),
      deployed,
      createExecutionContext(),
    )
    const { failing } = await response.json<{ failing?: string[] }>()
    return [response.status, failing]
  }

  it.each([
    [{ ALERT_URL: 'hooks.test' }, 'ALERT_URL must be an http or https URL'],
    [{ ALERT_FORMAT: 'teams' }, 'ALERT_FORMAT must be json, slack, pagerduty'],
    [{ ALERT_FORMAT: 'pagerduty' }, 'ALERT_ROUTING_KEY is not set: run `wrangler secret put'],
    [{ ALERT_MAIL: 'on-call' }, 'ALERT_MAIL must be an email address'],
    [
      { ALERT_MAIL: 'a@b.test', DEV_MAILBOX: 'false' },
      'ALERT_MAIL requires MAIL_FROM and BASE_URL',
    ],
    [
      { ANALYTICS_ACCOUNT_ID: 'mine' },
      'ANALYTICS_ACCOUNT_ID must be the id of a Cloudflare account',
    ],
    [{ ANALYTICS_DATASET: 'a; b' }, 'ANALYTICS_DATASET must be the name of a dataset'],
    [{ ANALYTICS_TOKEN: 'analytics-token' }, 'ANALYTICS_TOKEN requires ANALYTICS_ACCOUNT_ID'],
    [
      { ALERT_URL: 'http://hooks.example', BASE_URL: 'https://shop.example', DEV_MAILBOX: 'false' },
      'ALERT_URL must start with https://, as BASE_URL is public',
    ],
  ])('fails for a wrong setting of alerts, which the log names: %o', async (vars, problem) => {
    const deployed = deployment(vars as Record<string, string>)
    expect(await health(deployed)).toEqual([503, ['alerts']])
    expect(lines.join('\n')).toContain(problem)
    const document = await worker.fetch(
      new Request(`${BASE}/openapi.json`),
      deployed,
      createExecutionContext(),
    )
    expect(document.status).toBe(200)
  })

  it('fails when cron has not evaluated the alerts for ten minutes', async () => {
    const deployed = deployment()
    expect(await health(deployed)).toEqual([200, undefined])
    await run(deployed)
    vi.setSystemTime(Date.now() + 10 * MINUTE_MS)
    expect(await health(deployed)).toEqual([200, undefined])
    vi.setSystemTime(Date.now() + MINUTE_MS)
    expect(await health(deployed)).toEqual([503, ['alerts']])
    await run(deployed)
    expect(await health(deployed)).toEqual([200, undefined])
  })
})

describe('/operator/alerts', () => {
  const test = async (deployed: Env) => {
    const headers = { Authorization: `Bearer ${env.OPERATOR_TOKEN}` }
    const init = { method: 'POST', headers }
    const url = `${BASE}/operator/alerts/test`
    return worker.fetch(new Request(url, init), deployed, createExecutionContext())
  }

  it('sends a test alert and its end through every channel, and says which accepted it', async () => {
    const deployed = deployment({ ALERT_URL: RECEIVER, ALERT_MAIL: 'test@try-on.test' })
    const response = await test(deployed)
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        channels: [
          { channel: 'ALERT_URL', sent: true },
          { channel: 'ALERT_MAIL', sent: true },
        ],
      },
    ])
    expect(sent()).toEqual(['test firing', 'test resolved'])
    status = 404
    expect(await (await test(deployment())).json()).toEqual({
      channels: [{ channel: 'ALERT_URL', sent: false }],
    })
  })

  it('names a wrong setting, and no channel without settings', async () => {
    const response = await test(deployment({ ALERT_FORMAT: 'teams' }))
    expect([response.status, await response.text()]).toEqual([
      422,
      expect.stringContaining('ALERT_FORMAT must be json, slack, pagerduty'),
    ])
    expect(await (await test(env)).json()).toEqual({ channels: [] })
  })

  it('lists the alerts with their state', async () => {
    const read = async () =>
      (await operator.get('/operator/alerts')).json<{
        alerts: { name: string; status: string; summary: string | null }[]
        evaluated_at: string | null
      }>()
    const before = await read()
    expect(before.evaluated_at).toBeNull()
    expect(before.alerts.length).toBeGreaterThan(10)
    const deployed = deployment()
    breakImages()
    await run(deployed)
    expect((await read()).alerts).toContainEqual(
      expect.objectContaining({ name: 'health', status: 'pending' }),
    )
    await run(deployed)
    expect(await read()).toMatchObject({
      alerts: expect.arrayContaining([
        expect.objectContaining({
          name: 'health',
          status: 'firing',
          summary: 'Failing checks: IMAGES.',
        }),
        expect.objectContaining({ name: 'backlog', status: 'ok', since: null, summary: null }),
      ]),
      evaluated_at: new Date().toISOString(),
    })
  })
})
