// Alerts in the API for staff: their current state, and a test of their channels.
import { Hono } from 'hono'
import type { App } from '../http/request-context.ts'
import { readState } from '../monitoring/alert-state.ts'
import { ALERTS } from '../monitoring/alerts.ts'
import { sendTestAlert } from '../monitoring/evaluate-alerts.ts'

export const alerts = new Hono<App>()
  .get('/alerts', async (c) => {
    const { entries, evaluatedAt } = await readState(c.env)
    return c.json({
      alerts: ALERTS.map(({ name, severity, condition, runbook, budget }) => {
        const ofChannels = Object.values(entries).flatMap((channel) => channel[name] ?? [])
        const [entry] = ofChannels
        return {
          name,
          severity,
          condition,
          runbook,
          budget,
          status: ofChannels.some(({ isSent }) => isSent) ? 'firing' : entry ? 'pending' : 'ok',
          since: entry ? new Date(entry.since).toISOString() : null,
          summary: entry?.summary ?? null,
        }
      }),
      evaluated_at: evaluatedAt?.toISOString() ?? null,
    })
  })
  .post('/alerts/test', async (c) => c.json({ channels: await sendTestAlert(c.env) }))
