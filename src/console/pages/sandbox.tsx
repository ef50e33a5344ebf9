// The pages of the embedded payment provider, which a real provider hosts itself: checkout, confirmation
// by the holder of a card, change of the card, invoices.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { isSandboxClosed } from '../../billing/sandbox/sandbox.ts'
import { AppError } from '../../domain/errors.ts'
import type { ConsoleApp } from '../console-context.ts'
import { sandboxCard } from './sandbox-card.tsx'
import { sandboxCheckout } from './sandbox-checkout.tsx'
import { sandboxInvoice } from './sandbox-invoice.tsx'

/** Invoices remain when another provider is set. */
const requireOpenSandbox = createMiddleware<ConsoleApp>(async (c, next) => {
  if (isSandboxClosed(c.env)) throw new AppError('not_found')
  await next()
})

export const sandbox = new Hono<ConsoleApp>()
  .use('/checkout/*', requireOpenSandbox)
  .use('/card/*', requireOpenSandbox)
  .route('/checkout', sandboxCheckout)
  .route('/card', sandboxCard)
  .route('/invoices', sandboxInvoice)
