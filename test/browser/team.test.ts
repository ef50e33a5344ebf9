// The journey of a team in Chromium: inviting a member with limited rights, what the member sees, and a
// change of the role.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, findOverflows } from './support/checks.ts'
import {
  newAddress,
  onboard,
  openMail,
  PASSWORD,
  PHONE,
  openConsole,
  type Console,
} from './support/console.ts'

let site: Console
let owner: Page
let viewer: Page
const email = newAddress()

before(async () => {
  site = await openConsole()
  owner = await site.open()
  await onboard(owner)
  viewer = await site.open()
})
after(() => site.close())

const openTeam = async () => {
  await owner.goto('/console')
  await owner.getByRole('link', { name: 'Team', exact: true }).click()
  // Elements are visible before the style sheet is loaded.
  await owner.waitForLoadState()
}

const menuOf = (page: Page) => page.getByRole('navigation', { name: 'Console' }).getByRole('link')

describe('a team', () => {
  it('invites a viewer who is limited to a workspace', async () => {
    await owner.goto('/console')
    await owner.getByRole('link', { name: 'Workspaces' }).click()
    await owner.getByLabel('Name', { exact: true }).fill('Outlet')
    await owner.getByRole('button', { name: 'Create workspace' }).click()
    await owner.getByText('Workspace created.').waitFor()

    await openTeam()
    const form = owner.getByRole('region', { name: 'Invite a member' })
    await form.getByLabel('Email').fill(email)
    // Owners have no limit.
    await form.getByLabel('Role').selectOption('Owner')
    assert.equal(await form.getByText('Only some workspaces').isVisible(), false)
    await form.getByLabel('Role').selectOption('Viewer')
    assert.equal(await form.getByLabel('Outlet').isVisible(), false)
    await form.getByLabel('Only some workspaces').check()
    await form.getByLabel('Outlet').check()
    await assertAccessible(owner)
    await form.getByRole('button', { name: 'Send invitation' }).click()
    await owner.getByText('Invitation sent.').waitFor()
    const row = owner.getByRole('row', { name: email })
    assert.match((await row.textContent()) ?? '', /Viewer.*Outlet/)
  })

  it('shows the viewer what the role permits', async () => {
    await openMail(viewer, email)
    await viewer.getByLabel('Password').fill(PASSWORD)
    await viewer.getByRole('button', { name: 'Create account and join' }).click()
    await viewer.getByRole('heading', { level: 1 }).waitFor()
    const labels = await menuOf(viewer).allTextContents()
    for (const label of ['Overview', 'Jobs', 'Credits', 'Webhooks', 'Workspaces', 'Team']) {
      assert.ok(labels.includes(label), label)
    }
    for (const label of ['Playground', 'Billing', 'API keys', 'Audit log']) {
      assert.ok(!labels.includes(label), label)
    }
    await viewer.getByRole('link', { name: 'Workspaces' }).click()
    assert.equal(await viewer.getByText('Outlet').count(), 1)
    assert.equal(await viewer.getByText('Default', { exact: true }).count(), 0)
    await assertAccessible(viewer)
  })

  it('changes the role, with effect from the next page', async () => {
    await openTeam()
    await owner.getByRole('button', { name: `Change role of ${email}` }).click()
    await assertAccessible(owner)
    await owner.getByLabel('Role', { exact: true }).selectOption('Billing')
    await owner.getByRole('button', { name: 'Save' }).click()
    await owner.getByText('Role changed.').waitFor()
    await viewer.goto('/console')
    const labels = await menuOf(viewer).allTextContents()
    assert.ok(labels.includes('Billing'))
    assert.ok(!labels.includes('Jobs'))
  })

  it('fits on a phone', async () => {
    await owner.setViewportSize(PHONE)
    await owner.goto('/console')
    await owner.getByRole('heading', { level: 1 }).waitFor()
    const base = new URL(owner.url()).pathname
    for (const path of ['', '/settings/team', '/settings/workspaces', '/settings/audit-log']) {
      await owner.goto(base + path)
      assert.deepEqual(await findOverflows(owner), [], path)
      await assertAccessible(owner)
    }
  })
})
