// GET /v1/workspaces and GET /v1/account: the caller's organisation.
import { Hono } from 'hono'
import { z } from 'zod'
import { presentWorkspace, Workspace } from '../accounts/present.ts'
import { CURRENCIES, currencyOf, PLANS, REGIONS } from '../domain/organisation.ts'
import { describeRoute, errors, ok } from '../http/openapi.ts'
import type { Account as AccountState } from '../organisation/rpc.ts'
import { organisationStub } from '../organisation/stub.ts'
import { requireAdmitted } from './authenticate.ts'
import type { ApiApp } from './context.ts'

const WorkspaceList = z.object({ workspaces: z.array(Workspace) }).meta({ id: 'WorkspaceList' })

const Account = z
  .object({
    org_id: z.string(),
    name: z.string(),
    plan: z.enum(PLANS),
    region_code: z.enum(REGIONS),
    currency_code: z.enum(CURRENCIES),
    credits: z.number().meta({ description: 'The current credit balance' }),
    auto_reload_enabled: z.boolean(),
  })
  .meta({ id: 'Account' })

export const account = new Hono<ApiApp>()
  .get(
    '/workspaces',
    describeRoute({
      operationId: 'listWorkspaces',
      summary: 'List active workspaces',
      tags: ['Account'],
      responses: { '200': ok('The active workspaces', WorkspaceList), ...errors() },
    }),
    async (c) => {
      const caller = c.get('caller')
      const result = await organisationStub(c.env, caller.organisationId).workspaces(caller)
      return c.json({ workspaces: requireAdmitted(c, result).map(presentWorkspace) })
    },
  )

  .get(
    '/account',
    describeRoute({
      operationId: 'getAccount',
      summary: 'Get the account',
      tags: ['Account'],
      responses: { '200': ok('The account', Account), ...errors() },
    }),
    async (c) => {
      const caller = c.get('caller')
      const result = await organisationStub(c.env, caller.organisationId).account(caller)
      return c.json(presentAccount(requireAdmitted(c, result)))
    },
  )

const presentAccount = (account: AccountState): z.infer<typeof Account> => ({
  org_id: account.id,
  name: account.name,
  plan: account.plan,
  region_code: account.regionCode,
  currency_code: currencyOf(account.regionCode),
  credits: account.credits,
  auto_reload_enabled: account.autoReloadEnabled,
})
