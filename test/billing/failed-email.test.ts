// Emails that could not be sent are sent again.
import { env } from 'cloudflare:workers'
import { beforeEach, expect, it, vi } from 'vitest'
import { finishPayments } from '../../src/billing/run-billing.ts'
import { findPayment } from '../../src/billing/payments.ts'
import { syncSubscription } from '../../src/billing/subscription.ts'
import * as mail from '../../src/mail/send.ts'
import { accountOf, deliver, newShop, passTime, shopOnPlan, startPack } from '../support/billing.ts'
import { fakePayments, type FakePaymentProvider } from '../support/fake-payment-provider.ts'

let provider: FakePaymentProvider
beforeEach(() => {
  vi.useRealTimers()
  provider = fakePayments()
})

it('sends a receipt again after ten minutes, and gives up after a day', async () => {
  const send = vi.spyOn(mail, 'sendEmail').mockResolvedValue(false)
  const shop = await newShop()
  const { organisationId } = shop
  const { id } = await startPack(shop)
  await deliver(provider, provider.pay(id))
  expect(send).toHaveBeenCalledTimes(1)
  const account = accountOf(organisationId)
  await finishPayments({ env, account, organisationId })
  expect(send).toHaveBeenCalledTimes(1)
  passTime(11 * 60_000)
  expect(await finishPayments({ env, account, organisationId })).toBeGreaterThan(Date.now())
  expect(send).toHaveBeenCalledTimes(2)
  expect((await findPayment(env, id))?.receiptDueAt).not.toBeNull()
  passTime(25 * 60 * 60_000)
  await finishPayments({ env, account, organisationId })
  expect((await findPayment(env, id))?.receiptDueAt).toBeNull()
})

it('sends the email of the grace period again', async () => {
  const send = vi.spyOn(mail, 'sendEmail').mockResolvedValue(true)
  const { organisationId, subscriptionId } = await shopOnPlan(provider, 'growth')
  const sync = () => syncSubscription({ env, account: accountOf(organisationId), organisationId })
  provider.renew(subscriptionId, 'failed')
  send.mockClear().mockResolvedValue(false)
  await expect(sync()).rejects.toThrow('not sent')
  send.mockResolvedValue(true)
  await sync()
  await sync()
  const subjects = send.mock.calls.map(([{ email }]) => email.subject)
  expect(subjects).toHaveLength(2)
  expect(subjects[1]).toBe(subjects[0])
})
