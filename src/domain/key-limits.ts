// What an API key can be limited to.

export const KEY_ACCESS = ['full', 'read'] as const
/** `read`: requests that change nothing. */
export type KeyAccess = (typeof KEY_ACCESS)[number]

export interface KeyLimits {
  access: KeyAccess
  /** The only workspace that the key reaches; null for all. */
  workspaceId: string | null
  /** The maximum of credits in a calendar month (UTC); null for none. Test keys have none. */
  monthlyCredits: number | null
}

export const NO_KEY_LIMITS: KeyLimits = { access: 'full', workspaceId: null, monthlyCredits: null }
