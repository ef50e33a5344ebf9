// The disabled webhook endpoints of an organisation: a banner with the reason, and a button that enables
// an endpoint.
import { Hono } from 'hono'
import { z } from 'zod'
import { enableReceiver, type FailingReceiver } from '../../webhooks/endpoints/failing-receivers.ts'
import { ActionForm } from '../components/form.tsx'
import { readForm } from '../forms.ts'
import { Timestamp } from '../components/text.tsx'
import { permitted } from '../middleware/session.ts'
import { scopeOf, type ConsoleApp } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'

export const disabledEndpoints = new Hono<ConsoleApp>().post(
  '/endpoints/enable',
  permitted('develop'),
  async (c) => {
    const form = await readForm(c, z.object({ receiver: z.string().max(2_048) }))
    if (!form.ok) return redirectTo(c, '/settings/webhooks')
    await enableReceiver({ ...scopeOf(c), receiver: form.data.receiver })
    return redirectTo(c, '/settings/webhooks', 'endpoint_enabled')
  },
)

interface DisabledEndpointsProps {
  endpoints: FailingReceiver[]
  canEnable?: boolean
}

/**
 * A banner for the overview and the webhooks page; empty without disabled endpoints.
 * @param canEnable whether the member may change webhooks
 */
export const DisabledEndpoints = ({ endpoints, canEnable = true }: DisabledEndpointsProps) =>
  endpoints.length === 0 ? null : (
    <section class="card disabled-endpoints" aria-labelledby="disabled-heading">
      <h2 id="disabled-heading">
        {endpoints.length === 1
          ? 'A webhook endpoint is disabled'
          : `${endpoints.length} webhook endpoints are disabled`}
      </h2>
      <p>
        All deliveries failed for five days. New deliveries fail without an attempt until you repair
        and enable the endpoint.
      </p>
      {endpoints.map(({ receiver, name, origin, failures, failingSince, disabledAt }) => (
        <div class="bar">
          <p>
            <strong class="address">{name}</strong>
            {name !== origin && <span class="address"> {origin}</span>}
            <br />
            <span class="muted">
              Disabled <Timestamp at={disabledAt} />, after {failures} failures since{' '}
              <Timestamp at={failingSince} />
            </span>
          </p>
          {canEnable && (
            <ActionForm
              to="/settings/webhooks/endpoints/enable"
              label="Enable"
              on={name}
              fields={{ receiver }}
            />
          )}
        </div>
      ))}
    </section>
  )
