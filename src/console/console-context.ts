// The variables that the console's middleware sets for the pages, and what handlers derive from them.
import type { Context } from 'hono'
import { createFactory } from 'hono/factory'
import type { UserActor } from '../domain/actor.ts'
import { consolePath } from '../domain/console-path.ts'
import type { Mode } from '../domain/job.ts'
import { permits, permitsUnlimited, type Permission } from '../domain/role.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { Membership } from '../organisations/members.ts'
import { authOf } from '../users/auth.ts'

export interface SessionUser {
  id: string
  email: string
  /** The display name; empty until the user enters one. */
  name: string
  organisationName: string | null
  sessionId: string
  /** Whether a sign-in with the password also requires a code. */
  hasTwoFactor: boolean
  signedInAt: Date
  /** Set while the account is scheduled for deletion. */
  deleteAfter: Date | null
}

/** The errors and values of a form that is shown again. */
export interface FormState {
  /** Messages by field name; the key '' is for an error of the whole form. */
  errors?: Record<string, string> | undefined
  /** A page of the organisation that resolves the error of the whole form. */
  link?: { to: string; label: string } | undefined
  values?: Record<string, string> | undefined
}

export interface ConsoleApp {
  Bindings: Env
  Variables: {
    requestId: string
    user: SessionUser
    membership: Membership
    memberships: Membership[]
    /** The mode whose data the pages show. */
    mode: Mode
    /** What the form of the page shows again. */
    form: FormState | undefined
  }
}

export type ConsoleContext = Context<ConsoleApp>

/** Routes and middleware whose handlers have these variables. */
export const { createApp, createMiddleware } = createFactory<ConsoleApp>()

/**
 * The address of a page of the current organisation. In JSX, use Link and PostForm.
 * @param page such as `/jobs`; empty for the overview
 */
export const pathOf = (c: ConsoleContext, page: string): string =>
  consolePath(c.var.membership.organisation.id, page)

/** The signed-in user as the actor of a use case. A form is checked against what is stored at that time. */
export function actorOf(c: ConsoleContext): UserActor {
  const actor = actorFor(c, c.var.user)
  if (c.req.method !== 'GET' || !c.var.membership) return actor
  const { organisation, role, workspaceIds } = c.var.membership
  return { ...actor, membership: { organisationId: organisation.id, role, workspaceIds } }
}

/** A user as an actor, also before a session has started. */
export const actorFor = (c: ConsoleContext, { id, email }: { id: string; email: string }) => ({
  type: 'user' as const,
  userId: id,
  email,
  ipAddress: ipAddressOf(c),
})

/** Whether the role of the member permits it. */
export const may = (c: ConsoleContext, permission: Permission): boolean =>
  permits(c.var.membership.role, permission)

/** Whether it does so for a member who is not limited to some workspaces. */
export const mayInAllWorkspaces = (c: ConsoleContext, permission: Permission): boolean =>
  permitsUnlimited(c.var.membership, permission)

export const ipAddressOf = (c: ConsoleContext): string | null =>
  c.req.header('CF-Connecting-IP') ?? null

/** The sign-in and the sessions of better-auth, on the origin of this service. */
export const authApi = (c: ConsoleContext) => authOf(c.env, baseUrlOf(c)).api

/** The arguments that all use cases of a user take. */
export const requestOf = (c: ConsoleContext) => ({ env: c.env, actor: actorOf(c) })

/** The arguments that all use cases of the selected organisation take. */
export const scopeOf = (c: ConsoleContext) => ({
  ...requestOf(c),
  organisationId: c.var.membership.organisation.id,
})
