// GET /v1/workspaces and GET /v1/account: the caller's organisation.
import { Hono } from 'hono'
import { z } from 'zod'
import { presentWorkspace, Workspace } from '../organisations/workspaces.ts'
import { CURRENCIES, currencyOf, PLANS, REGIONS } from '../domain/organisation.ts'
import { describeRoute, ok } from '../http/describe-route.ts'
import { organisationStub } from '../credits/organisation-stub.ts'
import { requireAdmitted } from './authenticate-key.ts'
import type { ApiApp } from './api-context.ts'
import { errors } from './error-responses.ts'
import { accounts, workspaces } from './examples.ts'

const WorkspaceList = z
  .object({
    workspaces: z.array(Workspace).meta({ description: 'The workspaces, oldest first.' }),
  })
  .meta({ id: 'WorkspaceList', description: 'The active workspaces of the organisation.' })

const Plan = z.enum(PLANS).meta({
  id: 'Plan',
  description: 'The plan, which sets the rate limit and the price of credits.',
})

const Region = z.enum(REGIONS).meta({
  id: 'Region',
  description: 'The billing region, chosen at sign-up. It never changes.',
})

const Currency = z.enum(CURRENCIES).meta({
  id: 'Currency',
  description: 'The currency of payments (ISO 4217). It follows from the billing region.',
})

const Account = z
  .object({
    org_id: z.string().meta({
      description: 'The id of the organisation.',
      examples: ['org_01m45hymcpf8rrpq3qwbcgyjv1'],
    }),
    name: z
      .string()
      .meta({ description: 'The name of the organisation.', examples: ['Acme Fashion'] }),
    plan: Plan,
    region_code: Region,
    currency_code: Currency,
    credits: z.number().meta({
      description:
        'The current credit balance, without the credits that unfinished jobs have reserved. It can be negative after a refund of a payment.',
    }),
    auto_reload_enabled: z.boolean().meta({
      description: 'Whether credits are bought automatically when the balance is low.',
    }),
  })
  .meta({ id: 'Account', description: 'The organisation that the API key belongs to.' })

export const account = new Hono<ApiApp>()
  .get(
    '/workspaces',
    describeRoute('Account', {
      operationId: 'listWorkspaces',
      summary: 'List active workspaces',
      description:
        'Returns all active workspaces of the organisation, oldest first. Submit jobs with the `id` of one of them as `workspace_id`.',
      responses: {
        '200': ok('The active workspaces.', WorkspaceList, { examples: workspaces }),
        ...errors(),
      },
    }),
    async (c) => {
      const caller = c.get('caller')
      const result = await organisationStub(c.env, caller.organisationId).workspaces(caller)
      return c.json({ workspaces: requireAdmitted(c, result).map(presentWorkspace) })
    },
  )

  .get(
    '/account',
    describeRoute('Account', {
      operationId: 'getAccount',
      summary: 'Get the account',
      description:
        'Returns the organisation that the API key belongs to, with its plan and credit balance.',
      responses: {
        '200': ok('The organisation and its credit balance.', Account, { examples: accounts }),
        ...errors(),
      },
    }),
    async (c) => {
      const caller = c.get('caller')
      const result = await organisationStub(c.env, caller.organisationId).account(caller)
      const found = requireAdmitted(c, result)
      return c.json({
        org_id: found.id,
        name: found.name,
        plan: found.plan,
        region_code: found.regionCode,
        currency_code: currencyOf(found.regionCode),
        credits: found.credits,
        auto_reload_enabled: found.autoReloadEnabled,
      } satisfies z.infer<typeof Account>)
    },
  )
