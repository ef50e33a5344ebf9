// GET /v1/account and GET /v1/workspaces: what a client may know of its organisation.
import { Hono } from 'hono'
import { allow } from '../allow.ts'
import type { App } from '../context.ts'
import { organisationOf } from '../organisation/by-id.ts'
import { presentAccount, presentWorkspace } from './answers.ts'
import { admitted, credentialsOf } from './authenticate.ts'

export const account = new Hono<App>()
  .get('/account', async (c) => {
    const caller = credentialsOf(c)
    const answer = await organisationOf(c.env, caller.organisationId).account(caller)
    return c.json(presentAccount(admitted(c, answer)))
  })
  .all('/account', allow('GET'))

  .get('/workspaces', async (c) => {
    const caller = credentialsOf(c)
    const answer = await organisationOf(c.env, caller.organisationId).workspaces(caller)
    return c.json({ workspaces: admitted(c, answer).map(presentWorkspace) })
  })
  .all('/workspaces', allow('GET'))
