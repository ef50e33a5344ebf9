// An added webhook endpoint: adding, changing, disabling and deleting it, and its signing secret.
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { AppError } from '../../domain/errors.ts'
import { urlPolicyOf } from '../../http/base-url.ts'
import { isId, newId } from '../../platform/ids.ts'
import {
  addEndpoint,
  deleteEndpoint,
  readEndpoint,
  revealSecret,
  rotateSecret,
  updateEndpoint,
} from '../../webhooks/endpoints/endpoints.ts'
import { listFailingReceivers } from '../../webhooks/endpoints/failing-receivers.ts'
import { CopyableId } from '../components/copyable-text.tsx'
import {
  EndpointFields,
  endpointForm,
  endpointStatus,
  TestEvent,
} from '../components/endpoints.tsx'
import { ActionForm, Button, PostForm } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { Timestamp } from '../components/text.tsx'
import { detailList, Section } from '../components/section.tsx'
import { SigningSecret } from '../components/signing-secret.tsx'
import { requireRecentSignIn } from '../middleware/recent-sign-in.tsx'
import { mayInAllWorkspaces, createApp, scopeOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import { idIn, readForm, resultOf, textIn } from '../forms.ts'
import { LatestDeliveries, readLatestDeliveries } from '../components/deliveries-table.tsx'

const WEBHOOKS = '/settings/webhooks'
const pathTo = (id: string) => `${WEBHOOKS}/endpoints/${id}`

export const webhookEndpoints = createApp()
  .get('/', (c) => redirectTo(c, WEBHOOKS))
  .get('/new', (c) => {
    if (!mayInAllWorkspaces(c, 'develop')) throw new AppError('not_found')
    return newEndpointPage(c, newId('we'))
  })
  .post('/', async (c) => {
    const id = await textIn(c, 'id')
    if (!isId('we', id)) throw new AppError('not_found')
    const page = () => newEndpointPage(c, id)
    const settings = await readForm(c, endpointForm(urlPolicyOf(c)), page)
    await resultOf(c, page, addEndpoint({ ...scopeOf(c), endpointId: id, settings }))
    return redirectTo(c, pathTo(id), 'endpoint_added')
  })
  .get('/:id', async (c) => endpointPage(c, await readOwn(c)))
  .post('/:id', async (c) => {
    const endpoint = await readOwn(c)
    const form = endpointForm(urlPolicyOf(c))
    const change = await readForm(c, form, () => endpointPage(c, endpoint))
    await updateEndpoint({ ...scopeOf(c), endpointId: endpoint.id, change })
    return redirectTo(c, pathTo(endpoint.id), 'endpoint_saved')
  })
  .post('/:id/enabled', async (c) => {
    const endpointId = endpointIdIn(c)
    const enabled = (await textIn(c, 'enabled')) === '1'
    await updateEndpoint({ ...scopeOf(c), endpointId, change: { enabled } })
    return redirectTo(c, pathTo(endpointId))
  })
  .post('/:id/delete', async (c) => {
    await deleteEndpoint({ ...scopeOf(c), endpointId: endpointIdIn(c) })
    return redirectTo(c, WEBHOOKS, 'endpoint_deleted')
  })
  .post('/:id/reveal', requireRecentSignIn, async (c) => {
    const endpoint = await readOwn(c)
    return endpointPage(c, endpoint, await revealSecret({ ...scopeOf(c), endpointId: endpoint.id }))
  })
  .post('/:id/rotate', requireRecentSignIn, async (c) => {
    const endpointId = endpointIdIn(c)
    await rotateSecret({ ...scopeOf(c), endpointId })
    return redirectTo(c, pathTo(endpointId), 'endpoint_secret_rotated')
  })
  // A page that was reloaded after a form, or opened after signing in again.
  .get('/:id/:action{enabled|delete|reveal|rotate}', (c) => redirectTo(c, pathTo(endpointIdIn(c))))

const endpointIdIn = (c: ConsoleContext) => idIn(c, 'id', 'we')

/** @throws AppError not_found, also for an endpoint of another organisation */
const readOwn = (c: ConsoleContext) => readEndpoint({ ...scopeOf(c), endpointId: endpointIdIn(c) })

/** @param id the id of the new endpoint: sending the form twice adds one endpoint */
const newEndpointPage = (c: ConsoleContext, id: string) =>
  memberPage(
    { c, title: 'Add endpoint', above: { [WEBHOOKS]: 'Webhooks' } },
    <>
      <p>
        The endpoint receives the events of jobs that end from now on, in addition to the default
        URL and the URLs of jobs. It gets its own signing secret.
      </p>
      <section class="card">
        <PostForm to={`${WEBHOOKS}/endpoints`} fields={{ id }}>
          <EndpointFields />
          <Button>Add endpoint</Button>
        </PostForm>
      </section>
    </>,
  )

async function endpointPage(c: ConsoleContext, endpoint: EndpointRow, revealed?: string) {
  const canDevelop = mayInAllWorkspaces(c, 'develop')
  const [failing, latest] = await Promise.all([
    listFailingReceivers(scopeOf(c)),
    readLatestDeliveries(c, { mode: c.var.mode, endpoint: endpoint.id }),
  ])
  return memberPage(
    { c, title: endpoint.name, above: { [WEBHOOKS]: 'Webhooks' } },
    <>
      {detailList({
        Status: endpointStatus(endpoint, failing),
        'Endpoint ID': <CopyableId id={endpoint.id} label="endpoint ID" />,
        Added: <Timestamp at={endpoint.createdAt} />,
      })}
      <LatestDeliveries
        deliveries={latest}
        endpoints={[endpoint]}
        all={`?endpoint=${endpoint.id}`}
      />
      {canDevelop && (
        <Section id="settings-heading" title="Settings" card>
          <PostForm to={pathTo(endpoint.id)}>
            <EndpointFields endpoint={endpoint} />
            <Button>Save</Button>
          </PostForm>
        </Section>
      )}
      <SigningSecret c={c} endpoint={endpoint} revealed={revealed} />
      {canDevelop && <TestEvent endpoints={[endpoint]} />}
      {canDevelop && <Danger endpoint={endpoint} />}
    </>,
  )
}

const Danger = ({ endpoint: { id, name, enabled } }: { endpoint: EndpointRow }) => (
  <Section id="danger-heading" title={enabled ? 'Disable or delete' : 'Enable or delete'} card>
    <p>A disabled endpoint receives no events. Events that wait for a retry fail.</p>
    <div class="buttons">
      <ActionForm
        to={`${pathTo(id)}/enabled`}
        label={enabled ? 'Disable' : 'Enable'}
        on={name}
        fields={{ enabled: enabled ? '0' : '1' }}
      />
      <ActionForm
        to={`${pathTo(id)}/delete`}
        label="Delete"
        on={name}
        kind="danger"
        confirm="Delete this endpoint and its signing secret? Its events stay in the list and cannot be sent again."
      />
    </div>
  </Section>
)
