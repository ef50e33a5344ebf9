// Switches between the organisations of a user.
import { Hono } from 'hono'
import { z } from 'zod'
import type { ConsoleApp } from '../context.ts'
import { AppError } from '../../domain/errors.ts'
import { selectOrganisation } from '../middleware/session.ts'
import { readForm } from '../read-form.ts'
import { safeReturnTo } from '../return-to.ts'

const Switch = z.object({ organisation: z.string(), next: z.string().optional() })

export const switchOrganisation = new Hono<ConsoleApp>().post('/organisation', async (c) => {
  const form = await readForm(c, Switch)
  const organisationId = form.ok ? form.data.organisation : undefined
  const isMember = c.var.memberships.some(({ organisation }) => organisation.id === organisationId)
  if (!form.ok || !isMember) throw new AppError('not_found')
  selectOrganisation(c, form.data.organisation)
  return c.redirect(safeReturnTo(form.data.next) ?? '/console', 303)
})
