// Takes screenshots of Billing and of the pricing page for visual review:
// `node test/browser/billing-screenshots.ts [name]`. The states are written to the database.
import { newId } from '../../src/ids.ts'
import { onboard, startConsole } from './support/console.ts'
import { shoot } from './support/shoot.ts'

const site = await startConsole()
const page = await site.open()
await page.goto('/pricing')
await shoot(page, 'pricing')
await page.goto('/pricing?currency=INR')
await shoot(page, 'pricing-inr')

await onboard(page)
await page.goto('/console')
const orgId = (await page.locator('dd.id').textContent()) ?? ''
await page.goto('/console/billing')
await shoot(page, 'billing-new')

const payments = {
  paid: newId('pay'),
  plan: newId('pay'),
  refunded: newId('pay'),
  failed: newId('pay'),
  expired: newId('pay'),
  open: newId('pay'),
}
const common = `'${orgId}', 'EUR', 'sandbox', unixepoch() * 1000, unixepoch() * 1000`
const columns = 'organisation_id, currency, provider, created_at, checked_at, kind, status'
const insert = (id: string, values: string, more: string, moreValues: string) =>
  `INSERT INTO payments (id, ${columns}, credits, amount, ${more})
   VALUES ('${id}', ${common}, ${values}, ${moreValues});`
const monthEnd = Date.now() + 20 * 86_400_000
site.sql(
  [
    insert(
      payments.paid,
      `'pack', 'paid', 500, 4000`,
      'paid_at, invoice_url',
      `unixepoch() * 1000, '/x'`,
    ),
    insert(
      payments.plan,
      `'plan', 'paid', 750, 4900`,
      'plan, paid_at',
      `'growth', unixepoch() * 1000`,
    ),
    insert(
      payments.refunded,
      `'auto_reload', 'paid', 2000, 14000`,
      'paid_at, amount_refunded, credits_reversed',
      `unixepoch() * 1000, 7000, 1000`,
    ),
    insert(payments.failed, `'pack', 'failed', 100, 800`, 'failure', `'The card was declined.'`),
    insert(payments.expired, `'pack', 'expired', 10000, 60000`, 'failure', 'NULL'),
    insert(payments.open, `'pack', 'open', 500, 4000`, 'action_url', `'/sandbox/checkout'`),
    `UPDATE organisations SET plan = 'growth', rate_limit_per_minute = 300, auto_reload_enabled = 1;`,
    `INSERT INTO billing_accounts (organisation_id, provider, customer_id, payment_method,
       subscription_id, subscription_status, period_end)
     VALUES ('${orgId}', 'sandbox', 'cus_1', 'Visa •••• 4242', 'sub_1', 'active', ${monthEnd});`,
    ...Array.from(
      { length: 60 },
      (_, at) =>
        `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, base_url, created_at, due_at)
         VALUES ('${newId('job')}', '${orgId}', 'ws', 'live', 'completed', '',
           unixepoch() * 1000 - ${at ** 2 % 20} * 86400000, 0);`,
    ),
  ].join('\n'),
)
await page.goto('/console/billing')
await shoot(page, 'billing')
await page.locator('summary', { hasText: 'Upgrade' }).click()
await page.locator('summary', { hasText: 'Downgrade' }).click()
await shoot(page, 'billing-confirm')
for (const [name, id] of Object.entries(payments)) {
  await page.goto(`/console/billing/payments/${id}`)
  await shoot(page, `payment-${name}`)
}
await page.goto('/console/billing')
await page.getByLabel('When the balance is below').fill('1.5')
await page.getByLabel('Monthly maximum').fill('')
await page.locator('#auto-reload').getByRole('button', { name: 'Save' }).click()
await shoot(page, 'billing-errors')

site.sql(
  `UPDATE billing_accounts SET next_plan = 'starter';
   UPDATE organisations SET rate_limit_per_minute = 900, rate_limit_overridden = 1`,
)
await page.goto('/console/billing')
await shoot(page, 'billing-scheduled')
site.sql(
  `UPDATE billing_accounts SET next_plan = NULL, subscription_status = 'past_due',
     grace_until = ${Date.now() + 5 * 86_400_000}`,
)
await page.goto('/console/billing')
await shoot(page, 'billing-past-due')
site.sql(
  `UPDATE organisations SET plan = 'enterprise';
   UPDATE billing_accounts SET subscription_id = NULL, subscription_status = NULL, period_end = NULL,
     enterprise_terms = '{"monthlyFee": 250000, "includedCredits": 50000, "creditPrice": 3}'`,
)
await page.goto('/console/billing')
await shoot(page, 'billing-enterprise')

// The second organisation of a company has no free credits.
await page.context().clearCookies()
const domain = `acme${Date.now()}.com`
await onboard(page, `ada@${domain}`)
await page.context().clearCookies()
await onboard(page, `bob@${domain}`)
await page.goto('/console/billing')
await shoot(page, 'billing-empty')
await page.goto('/console')
await shoot(page, 'banner-empty')
site.sql(`UPDATE members SET role = 'developer'`)
await page.goto('/console')
await shoot(page, 'banner-member')
await page.goto('/console/billing')
await shoot(page, 'billing-member')
await site.close()
