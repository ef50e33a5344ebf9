// Which notifications a user receives. Every notification is on until the user switches it off.
import { eq } from 'drizzle-orm'
import { auditInsert } from '../organisations/audit-log.ts'
import { members, mutedNotifications } from '../platform/db/auth-schema.ts'
import { database } from '../platform/db/database.ts'
import { organisations } from '../platform/db/schema.ts'
import { notificationsFor, type NotificationKind } from '../domain/notification.ts'
import type { UserRequest } from './users.ts'

/**
 * The notifications that a user can receive with their roles.
 * @returns `name` identifies each in a form: the kind, with the organisation before it if it has one
 */
export async function readPreferences(env: Env, userId: string) {
  const db = database(env)
  const [memberships, muted] = await db.batch([
    db
      .select({ id: organisations.id, name: organisations.name, role: members.role })
      .from(members)
      .innerJoin(organisations, eq(organisations.id, members.organisationId))
      .where(eq(members.userId, userId))
      .orderBy(members.createdAt),
    db.select().from(mutedNotifications).where(eq(mutedNotifications.userId, userId)),
  ])
  const preference = (
    kind: NotificationKind,
    /** Null for a notification that concerns the user. */
    organisation: { id: string; name: string } | null,
  ) => ({
    name: organisation ? `${organisation.id}.${kind}` : kind,
    kind,
    organisation,
    isOn: !muted.some(
      (row) => row.kind === kind && row.organisationId === (organisation?.id ?? null),
    ),
  })
  return [
    preference('new_sign_in', null),
    ...memberships.flatMap(({ id, name, role }) =>
      notificationsFor(role).map((kind) => preference(kind, { id, name })),
    ),
  ]
}

/**
 * Switches notifications of the actor on or off.
 * @param choices by the name of the preference. Other preferences remain as they are, and unknown names
 * are ignored.
 */
export async function updatePreferences(request: UserRequest & { choices: Map<string, boolean> }) {
  const { env, actor, choices } = request
  const { userId } = actor
  const before = await readPreferences(env, userId)
  const after = before.map((preference) => ({
    ...preference,
    isOn: choices.get(preference.name) ?? preference.isOn,
  }))
  const changed = after.filter(({ isOn }, index) => isOn !== before[index]?.isOn)
  if (changed.length === 0) return
  const muted = after.filter(({ isOn }) => !isOn)
  // A change of the user's own notifications is recorded in each of their organisations.
  const audited = new Set(
    before.flatMap(({ organisation }) => (organisation ? [organisation.id] : [])),
  )
  const db = database(env)
  const entries = [...audited].flatMap((organisationId) => {
    const concerned = changed.filter(
      ({ organisation }) => organisation === null || organisation.id === organisationId,
    )
    if (concerned.length === 0) return []
    const details = Object.fromEntries(concerned.map(({ kind, isOn }) => [kind, isOn]))
    return [auditInsert({ env, organisationId, actor, action: 'notifications.updated', details })]
  })
  await db.batch([
    db.delete(mutedNotifications).where(eq(mutedNotifications.userId, userId)),
    ...muted.map(({ kind, organisation }) => {
      const organisationId = organisation?.id ?? null
      return db.insert(mutedNotifications).values({ userId, organisationId, kind })
    }),
    ...entries,
  ])
}
