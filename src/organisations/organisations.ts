// Reads organisations. billing/update-organisation changes them.
import { and, asc, eq, gt, isNull, or } from 'drizzle-orm'
import { requireOperator } from './authorisation.ts'
import { database } from '../platform/db/database.ts'
import { organisations, workspaces, type OrganisationRow } from '../platform/db/schema.ts'
import type { Actor } from '../domain/actor.ts'

/**
 * An organisation with its workspaces. Does not check the actor: only for operators and for use cases
 * that have checked theirs.
 */
export async function findOrganisation(env: Env, organisationId: string) {
  const db = database(env)
  const [[organisation], workspaceRows] = await db.batch([
    db
      .select()
      .from(organisations)
      .where(and(eq(organisations.id, organisationId), organisationExists())),
    db
      .select()
      .from(workspaces)
      .where(eq(workspaces.organisationId, organisationId))
      .orderBy(asc(workspaces.id)),
  ])
  return organisation && { organisation, workspaces: workspaceRows }
}

/**
 * A page of all organisations, oldest first. For operators.
 * @param afterId the last organisation of the previous page
 */
export async function listOrganisations(page: {
  env: Env
  actor: Actor
  limit: number
  afterId?: string | undefined
}): Promise<OrganisationRow[]> {
  const { env, actor, limit, afterId } = page
  requireOperator(actor)
  return database(env)
    .select()
    .from(organisations)
    .where(
      and(organisationExists(), afterId === undefined ? undefined : gt(organisations.id, afterId)),
    )
    .orderBy(asc(organisations.id))
    .limit(limit)
}

/** An SQL condition: excludes organisations whose grace period is over. */
export const organisationExists = () =>
  or(isNull(organisations.deleteAfter), gt(organisations.deleteAfter, new Date()))
