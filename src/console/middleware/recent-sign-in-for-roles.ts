// Owners and developers can create live keys and reveal the signing secret, and owners and the role
// billing can spend money, so giving a member one of these roles requires a recent sign-in.
import { createMiddleware } from 'hono/factory'
import { permits, ROLES } from '../../domain/role.ts'
import type { ConsoleApp } from '../context.ts'
import { requireRecentSignIn } from './recent-sign-in.tsx'

export const recentSignInForRoles = createMiddleware<ConsoleApp>(async (c, next) => {
  const { role: name } = await c.req.parseBody()
  const role = ROLES.find((known) => known === name)
  const isSensitive = role && (permits(role, 'develop') || permits(role, 'billing'))
  return isSensitive ? requireRecentSignIn(c, next) : next()
})
