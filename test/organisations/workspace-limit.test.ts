// The limit of credits per month of a workspace, which works like that of a key (key-limits.test.ts).
import { env } from 'cloudflare:workers'
import { runDurableObjectAlarm } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import { createKey, newMember, newOwner, tryOn } from '../support/browser.ts'
import { clientOf, errorOf } from '../support/client.ts'
import { DAY_MS, fakeClock, pass } from '../support/retention.ts'
import { IMAGES } from '../support/world.ts'

fakeClock()

const PAGE = '/console/settings/workspaces'

/** An owner with a live key, and a workspace besides `Default`. */
async function newShop() {
  const owner = await newOwner()
  const { browser } = owner
  const { html } = await createKey(browser, { id: newId('key'), mode: 'live' })
  const client = clientOf(/svc_live_sk_\w{64}/.exec(html)?.[0] ?? '')
  await browser.post(PAGE, { name: 'Boutique' })
  const list = await client.get('/v1/workspaces')
  const { workspaces } = await list.json<{ workspaces: { id: string; name: string }[] }>()
  const workspaceId = workspaces.find(({ name }) => name === 'Boutique')?.id ?? ''
  const limit = (monthly_credits: string) =>
    browser.post(`${PAGE}/${workspaceId}/limit`, { monthly_credits })
  const submit = (workspace_id?: string) => client.post('/v1/tryon', { ...IMAGES, workspace_id })
  const stub = env.ORGANISATION.getByName(owner.organisationId)
  const used = async () => (await stub.creditUse([workspaceId]))[0]
  return { ...owner, client, workspaceId, limit, submit, used, stub }
}

it('rejects further live jobs of the workspace, of keys and of the console', async () => {
  const { browser, workspaceId, limit, submit, used, client } = await newShop()
  const jobId = (await (await submit(workspaceId)).json<{ job_id: string }>()).job_id
  const page = await limit('2')
  expect(page.html).toContain('Limit saved.')
  expect(page.html).toContain('1 of 2')
  expect((await submit(workspaceId)).status).toBe(202)
  const rejected = await submit(workspaceId)
  expect(rejected.status).toBe(402)
  expect((await errorOf(rejected)).message).toContain(
    'The workspace “Boutique” has used its limit of 2 credits per month.',
  )
  expect((await submit()).status).toBe(202)
  await browser.post('/console/mode', { mode: 'live' })
  const { page: form } = await tryOn(browser, { mode: 'live', workspace: workspaceId })
  expect(form.html).toContain('The workspace “Boutique” has used its limit')

  expect((await client.delete(`/v1/jobs/${jobId}`)).status).toBe(200)
  expect(await used()).toBe(1)
  expect((await submit(workspaceId)).status).toBe(202)
  expect((await limit('')).html).toMatch(/No limit.*No limit/s)
  expect((await submit(workspaceId)).status).toBe(202)
  await limit('2')
  expect((await submit(workspaceId)).status).toBe(402)
  pass(31 * DAY_MS)
  expect((await submit(workspaceId)).status).toBe(202)
})

it('informs owners and developers of 80% once a month, also when the limit is lowered below the use', async () => {
  const { email, organisationId, workspaceId, limit, submit, stub } = await newShop()
  const viewer = await newMember(organisationId, 'viewer')
  const mailsTo = (address: string) =>
    developmentMailbox().filter(
      ({ to, subject }) => to === address && subject.includes('of its limit'),
    )
  await limit('10')
  for (let n = 0; n < 3; n++) await submit(workspaceId)
  await runDurableObjectAlarm(stub)
  expect(mailsTo(email)).toEqual([])
  await limit('3')
  expect((await submit(workspaceId)).status).toBe(402)
  await runDurableObjectAlarm(stub)
  await submit(workspaceId)
  await runDurableObjectAlarm(stub)
  const [mail, ...others] = mailsTo(email)
  expect(others).toEqual([])
  expect(mail?.subject).toBe('The workspace “Boutique” of Acme has used 100% of its limit')
  expect(mail?.link).toContain('/settings/workspaces')
  expect(mailsTo(viewer.email)).toEqual([])
})

it('explains a wrong value in the form, and records a change', async () => {
  const { browser, organisationId, workspaceId, limit } = await newShop()
  const page = await limit('none')
  expect(page.status).toBe(422)
  expect(page.html).toContain('Enter a whole number from 1 to 1,000,000,000')
  expect(page.html).toContain('value="none"')
  await limit('500')
  const details = await env.DB.prepare(
    "SELECT details FROM audit_log WHERE organisation_id = ? AND action = 'workspace.updated'",
  )
    .bind(organisationId)
    .first<string>('details')
  expect(JSON.parse(details ?? '')).toEqual({
    monthly_credits_old: null,
    monthly_credits_new: 500,
  })
  const { html } = await browser.get('/console/settings/audit-log')
  expect(html).toContain('none → 500')
  const unknown = await browser.post(`${PAGE}/${newId('ws')}/limit`, { monthly_credits: '5' })
  expect(unknown.status).toBe(404)
  expect(workspaceId).not.toBe('')
})
