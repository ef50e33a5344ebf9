// Webhook endpoints that were disabled after days of failures, and enabling them again.
import { Hono } from 'hono'
import { z } from 'zod'
import type { WebhookEndpointRow } from '../../db/schema.ts'
import { enableEndpoint } from '../../webhooks/endpoints.ts'
import type { ConsoleApp } from '../context.ts'
import { ActionForm, Notice, readForm } from '../components/form.tsx'
import { When } from '../components/parts.tsx'
import { requestOf } from '../middleware/session.ts'

export const disabledEndpoints = new Hono<ConsoleApp>().post('/endpoints/enable', async (c) => {
  const form = await readForm(c, z.object({ origin: z.url() }))
  if (!form.ok) return c.redirect('/console/settings/webhooks', 303)
  await enableEndpoint({ ...requestOf(c), url: form.value.origin })
  return c.redirect('/console/settings/webhooks?enabled=1', 303)
})

export const DisabledEndpoints = ({ endpoints }: { endpoints: WebhookEndpointRow[] }) =>
  endpoints.length === 0 ? null : (
    <section class="card" aria-labelledby="disabled-heading">
      <h2 id="disabled-heading">Disabled endpoints</h2>
      <Notice kind="bad">
        Every delivery to these endpoints failed for five days. Webhooks to them now fail without an
        attempt.
      </Notice>
      {endpoints.map(({ origin, failures, failingSince }) => (
        <div>
          <p>
            <span class="address">{origin}</span>{' '}
            <span class="quiet">
              {failures} failures since <When at={failingSince} />
            </span>
          </p>
          <ActionForm
            action="/console/settings/webhooks/endpoints/enable"
            label="Enable"
            on={origin}
            fields={{ origin }}
          />
        </div>
      ))}
    </section>
  )
