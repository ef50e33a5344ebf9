// The organisation as a customer of Stripe: the customer, the stored payment method, the portal.
import type Stripe from 'stripe'
import { rejected, type Customer } from '../payment-provider.ts'
import { nameOfMethod } from './states.ts'
import { idOf, subjectOf, unlessMissing } from './stripe-client.ts'

/** Names the portal configuration of this service; a new value creates a new configuration. */
const PORTAL = 'try-on-1'

/** The id of the organisation's customer, which is created at the first payment. */
export async function customerIdOf(client: Stripe, customer: Customer): Promise<string> {
  const { customerId, organisationId, organisationName: name, email } = customer
  if (customerId !== null && (await exists(client, customerId))) return customerId
  const found = email === null ? null : await findByEmail(client, email, organisationId)
  if (found) return found.id
  // The parameters depend on the id only: a repeated key with other parameters would be an error.
  const { id } = await client.customers.create(
    { metadata: { organisation_id: organisationId } },
    { idempotencyKey: `customer-${organisationId}` },
  )
  await client.customers.update(id, { name, ...(email !== null && { email }) })
  return id
}

/** Whether a customer exists: it may have been deleted, or belong to the test mode of the account. */
async function exists(client: Stripe, customerId: string): Promise<boolean> {
  const customer = await unlessMissing(client.customers.retrieve(customerId))
  return customer !== null && !customer.deleted
}

/** Finds a customer whose id was lost, also after the idempotency key has expired. */
async function findByEmail(client: Stripe, email: string, organisationId: string) {
  for await (const customer of client.customers.list({ email, limit: 100 })) {
    if (subjectOf(customer.metadata)?.organisationId === organisationId) return customer
  }
  return null
}

/**
 * The payment method for charges in the customer's absence: the default of the portal, otherwise the
 * newest.
 * @throws PaymentError rejected when none is stored
 */
export async function storedPaymentMethod(client: Stripe, customerId: string): Promise<string> {
  const customer = await client.customers.retrieve(customerId)
  if (!customer.deleted) {
    const chosen = idOf(customer.invoice_settings.default_payment_method)
    if (chosen !== null) return chosen
    const { data } = await client.customers.listPaymentMethods(customerId, { limit: 1 })
    if (data[0]) return data[0].id
  }
  throw rejected('No payment method is stored.')
}

/** See `PaymentProvider.paymentMethod`: the one that `storedPaymentMethod` charges. */
export async function paymentMethod(client: Stripe, customerId: string): Promise<string | null> {
  const customer = await client.customers.retrieve(customerId)
  if (customer.deleted) return null
  const { data } = await client.customers.listPaymentMethods(customerId, { limit: 100 })
  const chosenId = idOf(customer.invoice_settings.default_payment_method)
  const method = data.find(({ id }) => id === chosenId) ?? data[0]
  return method ? nameOfMethod(method) : null
}

/** The address of a new session of the Billing Portal. */
export async function portalUrl(
  client: Stripe,
  { customerId, returnUrl }: { customerId: string; returnUrl: string },
): Promise<string> {
  const { url } = await client.billingPortal.sessions.create({
    customer: customerId,
    return_url: returnUrl,
    configuration: await portalConfiguration(client),
  })
  return url
}

/**
 * The portal without cancellation and change of plan, which belong to this service's page. The default
 * configuration of the account may offer both.
 */
async function portalConfiguration(client: Stripe): Promise<string> {
  const all = client.billingPortal.configurations.list({ active: true, limit: 100 })
  for await (const { id, metadata } of all) if (metadata?.['service'] === PORTAL) return id
  const created = await client.billingPortal.configurations.create(
    {
      metadata: { service: PORTAL },
      features: {
        customer_update: { enabled: true, allowed_updates: ['name', 'email', 'address', 'tax_id'] },
        invoice_history: { enabled: true },
        payment_method_update: { enabled: true },
        subscription_cancel: { enabled: false },
        subscription_update: { enabled: false },
      },
    },
    { idempotencyKey: `portal-${PORTAL}` },
  )
  return created.id
}
