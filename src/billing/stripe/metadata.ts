// The metadata on every object that this service creates at Stripe. It connects the objects to payments
// and organisations; objects without it belong to other systems of the same Stripe account.
import { z } from 'zod'
import { isId } from '../../platform/ids.ts'

const Metadata = z.object({
  organisation_id: z.string().refine((id) => isId('org', id)),
  payment_id: z
    .string()
    .refine((id) => isId('pay', id))
    .optional(),
})

/** What an object at Stripe belongs to. */
export interface Subject {
  organisationId: string
  paymentId: string | null
}

/** The organisation and payment of an object; null for one of another system. */
export function subjectOf(metadata: unknown): Subject | null {
  const { success, data } = Metadata.safeParse(metadata)
  if (!success) return null
  return { organisationId: data.organisation_id, paymentId: data.payment_id ?? null }
}

/** The metadata of an object that belongs to a payment. */
export const metadataOf = (subject: { organisationId: string; paymentId: string }) => ({
  organisation_id: subject.organisationId,
  payment_id: subject.paymentId,
})
