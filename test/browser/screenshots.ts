// Takes screenshots of every page except Billing for visual review:
// `node test/browser/screenshots.ts [name]`.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import {
  newAddress,
  onboard,
  openMail,
  OPERATOR_TOKEN,
  PASSWORD,
  startConsole,
} from './support/console.ts'
import { shoot } from './support/shoot.ts'

const receiver = createServer((request, response) => {
  request.resume()
  response.writeHead(request.url === '/broken' ? 500 : 200).end('{"received": true}')
}).listen(0)
const { port } = receiver.address() as AddressInfo

const site = await startConsole()
const page = await site.open()
await guestPages(page)
await resetAndNoCredits()
const email = await onboard(page)
await page.getByRole('button', { name: 'Submit sample job' }).click()
await page.getByRole('img', { name: 'Result image' }).waitFor()
await shoot(page, 'key')
await memberPages(page)
await site.close()
receiver.close()

async function guestPages(page: Page): Promise<void> {
  await page.goto('/console/sign-in')
  await shoot(page, 'sign-in')
  await page.goto('/console/forgot')
  await shoot(page, 'forgot')
  await page.goto('/console/reset?token=x')
  await shoot(page, 'reset-expired')
  await page.goto('/console/sign-up')
  await shoot(page, 'sign-up')
  await page.getByLabel('Work email').fill('ada@gmail.com')
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Create account' }).click()
  await shoot(page, 'sign-up-errors')
  await page.getByLabel('Work email').fill(newAddress())
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByLabel('Organisation name').fill('Acme')
  await page.getByRole('button', { name: 'Create account' }).click()
  await shoot(page, 'check-inbox')
  const other = await site.open()
  await openMail(other)
  await shoot(other, 'verify-elsewhere')
  await openMail(page)
  await shoot(page, 'verify')
  await page.getByRole('button', { name: 'Verify and continue' }).click()
  await shoot(page, 'onboarding-name')
  await page.getByRole('button', { name: 'Continue' }).click()
  await shoot(page, 'onboarding-region')
  await page.getByRole('radio', { name: /India/ }).check()
  await page.getByRole('button', { name: 'Confirm region' }).click()
  await shoot(page, 'onboarding-workspace')
  await page.goto('/console/dev/mail')
  await shoot(page, 'mailbox')
  await page.context().clearCookies()
}

async function memberPages(page: Page): Promise<void> {
  await page.goto('/console/settings/webhooks')
  await shoot(page, 'webhooks-empty')
  await page.locator('#url').fill(`http://localhost:${port}/hook`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Send job.completed' }).click()
  await page.getByRole('link', { name: /Webhook delivered/ }).click()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Attempt 2').waitFor()
  await shoot(page, 'webhook-event')
  await page.goto('/console/settings/webhooks')
  await page.getByRole('button', { name: 'Send job.failed' }).click()
  await page.getByText('No person was found').waitFor()
  await shoot(page, 'job-failed')
  await page.goto('/console/settings/webhooks')
  await page.getByRole('button', { name: 'Reveal' }).click()
  await page.locator('[data-copy-source]').waitFor()
  await shoot(page, 'webhooks')

  await page.goto('/console/playground')
  await shoot(page, 'playground')
  await page.getByRole('button', { name: 'Submit job' }).click()
  await shoot(page, 'playground-errors')
  await page.getByLabel('Or upload a file').first().setInputFiles('samples/model.jpg')
  await page.getByLabel('Or upload a file').last().setInputFiles('samples/garment.jpg')
  await page.getByRole('radio', { name: /Live/ }).check()
  await page.getByRole('button', { name: 'Submit job' }).click()
  await page.getByRole('img', { name: 'Result image' }).waitFor({ timeout: 60_000 })
  await shoot(page, 'job-live')
  await page.goto('/console/playground')
  await page.getByLabel('URL').first().fill('https://test.invalid/delay/60')
  await page.getByLabel('URL').last().fill('https://shop.example/shirt.png')
  await page.getByRole('button', { name: 'Submit job' }).click()
  await shoot(page, 'job-waiting')

  await page.goto('/console')
  await shoot(page, 'overview')
  await page.goto('/console/jobs')
  await shoot(page, 'jobs')
  await page.goto('/console/jobs?status=cancelled')
  await shoot(page, 'jobs-none')
  await page.goto('/console/credits')
  await shoot(page, 'credits')
  await page.goto('/console/settings/api-keys')
  await page.getByLabel('Name').fill('Shop, production')
  await page.getByRole('radio', { name: /Live/ }).check()
  await page.getByRole('button', { name: 'Create API key' }).click()
  await shoot(page, 'key-created')
  await page.goto('/console/settings/api-keys')
  await page.locator('summary', { hasText: 'Revoke' }).first().click()
  await shoot(page, 'keys')
  await page.goto('/console/settings/workspaces')
  await page.getByLabel('Name').last().fill('Outlet')
  await page.getByRole('button', { name: 'Create workspace' }).click()
  await shoot(page, 'workspaces')
  await page.goto('/console/settings/team')
  await page.getByLabel('Email').fill(newAddress())
  await page.getByRole('button', { name: 'Send invitation' }).click()
  await shoot(page, 'team')
  await page.goto('/console/settings/audit-log')
  await shoot(page, 'audit-log')
  // The last owner cannot leave, so this adds a second one.
  site.sql(
    `INSERT INTO users (id, name, email, created_at, updated_at)
     VALUES ('usr_second', 'Second', 'second@shop.example', 0, 0);
     INSERT INTO members SELECT id, 'usr_second', 'owner', 0 FROM organisations`,
  )
  await page.goto('/console/settings/team')
  await page.getByRole('button', { name: /^Leave/ }).click()
  await shoot(page, 'leave')
  site.sql('UPDATE sessions SET created_at = created_at - 3600000')
  await page.goto('/console/settings/webhooks')
  await page.getByRole('button', { name: 'Reveal' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Incorrect password.').waitFor()
  await shoot(page, 'confirm-password')
  await page.goto('/console/settings/organisation')
  await shoot(page, 'organisation')
  await page.getByRole('button', { name: 'Delete Acme Fashion' }).click()
  await shoot(page, 'organisation-errors')
  await page.getByLabel('Enter “Acme Fashion” to confirm').fill('Acme Fashion')
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Delete Acme Fashion' }).click()
  await page.getByText('Acme Fashion will be deleted on').waitFor()
  await shoot(page, 'organisation-scheduled')
  await page.getByRole('button', { name: 'Cancel deletion' }).click()
  await page.getByText('Deletion cancelled').waitFor()
  await page.goto('/console/account/delete')
  await shoot(page, 'account-delete')
  await page.goto('/console/account')
  await page.locator('header summary').click()
  await shoot(page, 'account')
  await page.goto('/console/does-not-exist')
  await shoot(page, 'not-found')
  await invited(page)
  await accountDeletion()
  await suspended(page)
}

async function invited(page: Page): Promise<void> {
  const other = await site.open()
  await onboard(other, newAddress(), 'Northern Outfitters of the Whole Wide World')
  await other.goto('/console/settings/team')
  await other.getByLabel('Email').fill(email)
  await other.getByRole('button', { name: 'Send invitation' }).click()
  await other.getByText('Invitation sent').waitFor()
  await page.goto('/console')
  await shoot(page, 'invited')
  await page.goto('/console/invitations')
  await shoot(page, 'invitations')
  const guest = await site.open()
  await openMail(guest)
  await shoot(guest, 'invitation-account')
  await openMail(page)
  await shoot(page, 'invitation-join')
  await page.getByRole('button', { name: /Join/ }).click()
  await page.locator('header select').waitFor()
  await shoot(page, 'two-organisations')
  await other.goto('/console/settings/team')
  await other.getByLabel('Email').fill(newAddress())
  await other.getByRole('button', { name: 'Send invitation' }).click()
  await other.getByText('Invitation sent').waitFor()
  await openMail(guest)
  await shoot(guest, 'invitation-new')
  await openMail(page)
  await shoot(page, 'invitation-other')
  await page.goto('/console')
  await page.locator('header select').selectOption({ label: 'Acme Fashion' })
  await page.getByRole('button', { name: 'Switch' }).click()
  await page.getByRole('heading', { name: 'Acme Fashion' }).waitFor()
}

/** The password reset, and an organisation without free credits. */
async function resetAndNoCredits(): Promise<void> {
  const page = await site.open()
  const domain = `acme${Date.now()}.com`
  await onboard(page, `ada@${domain}`)
  const second = await site.open()
  await onboard(second, `bob@${domain}`)
  await shoot(second, 'key-no-credits')
  await second.context().clearCookies()
  await second.goto('/console/sign-in')
  await second.getByLabel('Email').fill(`bob@${domain}`)
  await second.getByRole('button', { name: 'Forgot your password?' }).click()
  await shoot(second, 'forgot-prefilled')
  await second.getByRole('button', { name: 'Send reset link' }).click()
  await shoot(second, 'forgot-sent')
  await openMail(second)
  await shoot(second, 'reset')
}

/** Deleting an account, and the page after the next sign-in. */
async function accountDeletion(): Promise<void> {
  const page = await site.open()
  const email = await onboard(page, newAddress(), 'Southern Tailors')
  await page.goto('/console/account/delete')
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await page.getByText('scheduled for deletion').waitFor()
  await shoot(page, 'sign-in-deleted')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Your account will be deleted' }).waitFor()
  await shoot(page, 'account-keep')
}

async function suspended(page: Page): Promise<void> {
  await page.goto('/console')
  const orgId = await page.locator('dd.id').textContent()
  await fetch(`${site.url}/operator/organisations/${orgId}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
    body: JSON.stringify({ status: 'suspended', suspension_reason: 'The last invoice is unpaid.' }),
  })
  await page.goto('/console')
  await shoot(page, 'suspended')
}
