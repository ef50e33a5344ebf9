// The variables that the console's middleware sets for the pages.
import type { Context } from 'hono'
import type { Mode } from '../domain/job.ts'
import type { Membership } from '../organisations/members.ts'

/** The user of the current session. */
export interface SessionUser {
  id: string
  email: string
  /** The display name; empty until the user enters one. */
  name: string
  organisationName: string | null
  sessionId: string
  /** Whether a sign-in with the password also requires a code. */
  hasTwoFactor: boolean
  /** The start of the session. */
  signedInAt: Date
  /** Set while the account is scheduled for deletion. */
  deleteAfter: Date | null
}

export interface ConsoleApp {
  Bindings: Env
  Variables: {
    requestId: string
    user: SessionUser
    /** The membership in the selected organisation. */
    membership: Membership
    memberships: Membership[]
    /** The mode whose data the pages show. */
    mode: Mode
  }
}

export type ConsoleContext = Context<ConsoleApp>
