// What the console's middleware finds out for its pages.
import type { Context } from 'hono'
import type { Membership } from '../accounts/members.ts'

/** Who is signed in. */
export interface Person {
  id: string
  email: string
  organisationName: string | null
  /** When this session began. */
  signedInAt: Date
  /** Set while the account is scheduled for deletion. */
  deleteAfter: Date | null
}

export interface ConsoleApp {
  Bindings: Env
  Variables: {
    requestId: string
    person: Person
    /** The organisation that the person looks at. */
    membership: Membership
    /** All that they could look at. */
    memberships: Membership[]
  }
}

export type ConsoleContext = Context<ConsoleApp>
