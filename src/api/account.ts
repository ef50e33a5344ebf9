// GET /v1/account and GET /v1/workspaces: what a client may know of its organisation.
import { Hono } from 'hono'
import { allow } from '../http/allow.ts'
import type { App } from '../http/context.ts'
import { organisationStub } from '../organisation/stub.ts'
import { presentAccount, presentWorkspace } from './responses.ts'
import { requireAdmitted, credentialsOf } from './authenticate.ts'

export const account = new Hono<App>()
  .get('/account', async (c) => {
    const caller = credentialsOf(c)
    const answer = await organisationStub(c.env, caller.organisationId).account(caller)
    return c.json(presentAccount(requireAdmitted(c, answer)))
  })
  .all('/account', allow('GET'))

  .get('/workspaces', async (c) => {
    const caller = credentialsOf(c)
    const answer = await organisationStub(c.env, caller.organisationId).workspaces(caller)
    return c.json({ workspaces: requireAdmitted(c, answer).map(presentWorkspace) })
  })
  .all('/workspaces', allow('GET'))
