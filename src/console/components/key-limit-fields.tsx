// The limits of an API key, and the monthly limit of credits that workspaces have too: the fields of forms, and
// what tables say of them.
import { z } from 'zod'
import type { Mode } from '../../domain/job.ts'
import { KEY_ACCESS, type KeyLimits } from '../../domain/key-limits.ts'
import { isId } from '../../platform/ids.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { monthlyCredits } from '../forms.ts'
import { Field, Select } from './form.tsx'
import { formatCount } from './text.tsx'

const ACCESS_LABELS = { full: 'Full access', read: 'Read only' } as const

export const LimitsForm = z
  .object({
    access: z.enum(KEY_ACCESS, 'Choose the access.').default('full'),
    workspace: z
      .string()
      .default('')
      .refine((id) => id === '' || isId('ws', id), 'Choose a workspace.'),
    monthly_credits: monthlyCredits,
  })
  .transform(({ access, workspace, monthly_credits: credits }) => ({
    access,
    workspaceId: workspace || null,
    monthlyCredits: credits,
  }))

/** @param id differs where several forms of a page have this field */
export const monthlyCreditsField = (value: number | null | undefined, id = 'monthly_credits') => (
  <Field
    id={id}
    name="monthly_credits"
    label="Credits per month"
    inputmode="numeric"
    required={false}
    value={value?.toString()}
    hint="Further live jobs of the month (UTC) are rejected with insufficient_credits. Test jobs cost no credits."
  />
)

/** @param key the key to change; jobs of a test key cost nothing */
export const keyLimitFields = (workspaces: WorkspaceRow[], key?: KeyLimits & { mode: Mode }) => (
  <>
    <Select
      name="access"
      label="Access"
      value={key?.access}
      options={[
        ['full', ACCESS_LABELS.full],
        ['read', `${ACCESS_LABELS.read}: GET requests`],
      ]}
    />
    <Select
      name="workspace"
      label="Workspace"
      value={key?.workspaceId ?? ''}
      options={[
        ['', 'All workspaces'],
        ...workspaces
          .filter(({ id, status }) => status === 'active' || id === key?.workspaceId)
          .map(({ id, name }) => [id, `Only ${name}`] as const),
      ]}
    />
    {key?.mode !== 'test' && monthlyCreditsField(key?.monthlyCredits)}
  </>
)

/** @param used credits in this month */
export const usedOf = (limit: number, used = 0): string =>
  `${formatCount(used)} of ${formatCount(limit)}`

/** What the limits of a key are, each as a text. @param used credits in this month */
export const limitTexts = (
  { access, workspaceId, monthlyCredits }: KeyLimits,
  workspaces: WorkspaceRow[],
  used: number | undefined,
): string[] => {
  const workspace = workspaces.find(({ id }) => id === workspaceId)?.name ?? workspaceId
  const texts: string[] = [ACCESS_LABELS[access]]
  if (workspace !== null) texts.push(`${workspace} only`)
  if (monthlyCredits !== null) texts.push(`${usedOf(monthlyCredits, used)} credits this month`)
  return texts
}
