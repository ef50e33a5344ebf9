// The messages of a payment provider.
import type { PaymentProvider, ProviderEvent } from '../../src/billing/payment-provider.ts'

/** All messages since an instant that concern this service, oldest first. */
export async function eventsSince(
  provider: PaymentProvider,
  since: Date,
): Promise<ProviderEvent[]> {
  const knownOf = async () => new Set<string>()
  const listed = await provider.missingEvents({ since, limit: 10_000, knownOf })
  const events = await Promise.all(listed.map(({ read }) => read()))
  return events.filter((event) => event !== null)
}
