// The fields of a form that gives a role and workspaces to a member or an invited person.
import { z } from 'zod'
import { ROLES } from '../domain/role.ts'
import { isId } from '../ids.ts'

/** Each chosen workspace is a field whose name is the workspace's id. */
export const roleFields = {
  role: z.enum(ROLES, 'Choose a role.'),
  access: z.enum(['all', 'limited']).default('all'),
}

/** The chosen workspaces; null for all. */
export const chosenWorkspaces = (form: { access: 'all' | 'limited' }): string[] | null =>
  form.access === 'all' ? null : Object.keys(form).filter((name) => isId('ws', name))

/** The text values of a form, to show it again. */
export const textValues = (form: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(form).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
