// The pages of the embedded payment provider, which a real provider hosts itself: checkout, card
// confirmation, billing details and invoices. They change only objects of the sandbox.
import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import { isSandboxClosed } from '../../billing/sandbox/sandbox.ts'
import { AppError } from '../../domain/errors.ts'
import type { ConsoleApp } from '../context.ts'
import { sandboxCheckout } from './sandbox-checkout.tsx'
import { sandboxInvoice } from './sandbox-invoice.tsx'
import { sandboxPortal } from './sandbox-portal.tsx'

/** Invoices remain when another provider is set. */
const requireOpenSandbox = createMiddleware<ConsoleApp>(async (c, next) => {
  if (isSandboxClosed(c.env)) throw new AppError('not_found')
  await next()
})

export const sandbox = new Hono<ConsoleApp>()
  .use('/checkout/*', requireOpenSandbox)
  .use('/portal/*', requireOpenSandbox)
  .route('/checkout', sandboxCheckout)
  .route('/portal', sandboxPortal)
  .route('/invoices', sandboxInvoice)
