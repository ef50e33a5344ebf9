// The disabled webhook endpoints of an organisation.
import { Hono } from 'hono'
import { z } from 'zod'
import type { WebhookEndpointRow } from '../../db/webhook-schema.ts'
import { enableEndpoint } from '../../webhooks/endpoints.ts'
import type { ConsoleApp } from '../context.ts'
import { ActionForm } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { readForm } from '../read-form.ts'
import { Timestamp } from '../components/time.tsx'
import { scopeOf } from '../middleware/session.ts'
import { redirectTo } from '../organisation-path.ts'

export const disabledEndpoints = new Hono<ConsoleApp>().post('/endpoints/enable', async (c) => {
  const form = await readForm(c, z.object({ origin: z.url() }))
  if (!form.ok) return redirectTo(c, '/settings/webhooks')
  await enableEndpoint({ ...scopeOf(c), url: form.data.origin })
  return redirectTo(c, '/settings/webhooks?enabled=1')
})

export const DisabledEndpoints = ({ endpoints }: { endpoints: WebhookEndpointRow[] }) =>
  endpoints.length === 0 ? null : (
    <section class="card" aria-labelledby="disabled-heading">
      <h2 id="disabled-heading">Disabled endpoints</h2>
      <Notice kind="bad">
        All deliveries to these endpoints failed for five days. New deliveries fail without an
        attempt until you enable the endpoint.
      </Notice>
      {endpoints.map(({ origin, failures, failingSince }) => (
        <div>
          <p>
            <span class="address">{origin}</span>{' '}
            <span class="muted">
              {failures} failures since <Timestamp at={failingSince} />
            </span>
          </p>
          <ActionForm
            to="/settings/webhooks/endpoints/enable"
            label="Enable"
            on={origin}
            fields={{ origin }}
          />
        </div>
      ))}
    </section>
  )
