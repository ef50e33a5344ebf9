// The baseline Worker: for each endpoint a handler with the same binding calls and nothing else. Without
// routing, validation, headers, signatures and ORM it measures the platform.
import { DurableObject } from 'cloudflare:workers'

interface BaselineEnv {
  BASELINE: DurableObjectNamespace<Baseline>
  DB: D1Database
  JOBS: Queue
}

export class Baseline extends DurableObject<BaselineEnv> {
  constructor(ctx: DurableObjectState, env: BaselineEnv) {
    super(ctx, env)
    ctx.storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, at INTEGER, kind TEXT, balance INTEGER);
      CREATE TABLE IF NOT EXISTS reservations (job_id TEXT PRIMARY KEY, state TEXT, at INTEGER) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS open ON reservations (at) WHERE state = 'reserved';`)
  }

  check(): { ok: true } {
    return { ok: true }
  }

  reserve(jobId: string): { jobId: string } {
    const { sql } = this.ctx.storage
    this.ctx.storage.transactionSync(() => {
      sql.exec("INSERT INTO reservations VALUES (?, 'reserved', ?)", jobId, Date.now())
      sql.exec("INSERT INTO entries (at, kind, balance) VALUES (?, 'reserve', 1)", Date.now())
    })
    return { jobId }
  }

  release(jobId: string): void {
    const { sql } = this.ctx.storage
    this.ctx.storage.transactionSync(() => {
      sql.exec("UPDATE reservations SET state = 'released' WHERE job_id = ?", jobId)
      sql.exec("INSERT INTO entries (at, kind, balance) VALUES (?, 'release', 1)", Date.now())
    })
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url)
    const baseline = env.BASELINE.getByName('baseline')
    switch (url.pathname) {
      case '/plain':
        return new Response('ok')
      case '/object':
        return Response.json(await baseline.check())
      case '/get': {
        const [, row] = await Promise.all([
          baseline.check(),
          env.DB.prepare(
            `SELECT jobs.*, webhook_events.status AS event_status FROM jobs
             LEFT JOIN webhook_events ON webhook_events.id = ?2 WHERE jobs.id = ?1`,
          )
            .bind(url.searchParams.get('id'), `evt_${url.searchParams.get('id')?.slice(4)}`)
            .first(),
        ])
        return Response.json(row)
      }
      case '/list': {
        await baseline.check()
        const { results } = await env.DB.prepare(
          `SELECT id, status, workspace_id, mode, output_format, error_code, created_at, completed_at,
             duration_ms FROM jobs WHERE organisation_id = ? ORDER BY id DESC LIMIT 21`,
        )
          .bind(url.searchParams.get('org'))
          .all()
        return Response.json(results)
      }
      case '/tryon': {
        const body = await request.json<Record<string, string>>()
        const { jobId } = await baseline.reserve(`job_${crypto.randomUUID()}`)
        const now = Date.now()
        await env.DB.prepare(
          `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, model_image_url,
             garment_image_url, base_url, created_at, due_at, sweep_at)
           VALUES (?, 'baseline', 'baseline', 'live', 'pending', ?, ?, 'https://baseline.test', ?, ?, 1)
           ON CONFLICT DO NOTHING`,
        )
          .bind(jobId, body['model_image_url'], body['garment_image_url'], now, now + 30_000)
          .run()
        await env.JOBS.send({ jobId })
        return Response.json({ job_id: jobId, status: 'pending' }, { status: 202 })
      }
      case '/cancel': {
        const id = url.searchParams.get('id') ?? ''
        await baseline.check()
        const [ended] = await env.DB.batch([
          env.DB.prepare(
            "UPDATE jobs SET status = 'refunded', sweep_at = 0 WHERE id = ? AND status = 'pending' RETURNING *",
          ).bind(id),
          env.DB.prepare(
            `INSERT INTO webhook_events (id, organisation_id, job_id, type, url, created_at, due_at)
             SELECT ?, organisation_id, id, 'job.refunded', webhook_url, ?, ? FROM jobs
             WHERE id = ? AND webhook_url IS NOT NULL`,
          ).bind(`evt_${id.slice(4)}`, Date.now(), Date.now(), id),
          env.DB.prepare('SELECT organisation_id, status FROM jobs WHERE id = ?').bind(id),
        ])
        if (ended?.results.length !== 1) return new Response(null, { status: 409 })
        await baseline.release(id)
        return Response.json({ job_id: id, status: 'refunded' })
      }
    }
    return new Response(null, { status: 404 })
  },
} satisfies ExportedHandler<BaselineEnv>
