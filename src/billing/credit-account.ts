// The credits of an organisation as billing sees them. The Organisation object implements this: use
// cases reach it through its stub, and its own alarm passes itself.

export interface CreditAccount {
  /** Adds credits, once per `reference`. */
  grant(grant: { amount: number; reference: string; reason: string }): unknown
  /** Takes back credits of a grant. `credits` is the total taken back so far: repeating changes nothing. */
  reverse(reversal: { reference: string; credits: number; reason: string }): unknown
  /** Makes the alarm run the billing tasks at `at` (ms since 1970) or earlier. */
  scheduleBilling(schedule: { organisationId: string; at: number }): unknown
  /** Call this after a change to the settings of auto-reload. Resets the failure count. */
  resetAutoReload(organisation: { organisationId: string }): unknown
  /** Call this after every change to the organisation's row in D1. */
  refresh(): unknown
}

/** The Organisation object itself, in its own alarm. */
export type OwnAccount = CreditAccount & {
  /** The balance in credits. */
  totals(): { balance: number }
}

/** Creating a stub is free of I/O; each method call is a round trip. */
export const creditAccountOf = (env: Env, organisationId: string): CreditAccount =>
  env.ORGANISATION.getByName(organisationId)
