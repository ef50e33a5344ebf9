// The limits of an API key, and the monthly limit of credits that workspaces have too: the fields of forms, and
// what tables say of them.
import { z } from 'zod'
import { KEY_ACCESS, type KeyLimits } from '../../domain/key-limits.ts'
import { isId } from '../../platform/ids.ts'
import type { WorkspaceRow } from '../../platform/db/schema.ts'
import { monthlyCredits } from '../forms.ts'
import { Field, Select } from './form.tsx'

const ACCESS_LABELS = { full: 'Full access', read: 'Read only' } as const

export const limitFields = {
  access: z.enum(KEY_ACCESS, 'Choose the access.').default('full'),
  workspace: z
    .string()
    .default('')
    .refine((id) => id === '' || isId('ws', id), 'Choose a workspace.'),
  monthly_credits: monthlyCredits,
}

/** The limits in a parsed form. */
export const limitsFrom = ({
  access,
  workspace,
  monthly_credits,
}: z.infer<z.ZodObject<typeof limitFields>>): KeyLimits => ({
  access,
  workspaceId: workspace || null,
  monthlyCredits: monthly_credits,
})

interface MonthlyCreditsFieldProps {
  id?: string
  value: number | null | undefined
}

/** @param id set where several forms of a page have this field */
export const MonthlyCreditsField = ({ id, value }: MonthlyCreditsFieldProps) => (
  <Field
    {...(id && { id })}
    name="monthly_credits"
    label="Credits per month"
    inputmode="numeric"
    required={false}
    value={value?.toString()}
    hint="Further live jobs of the month (UTC) are rejected with insufficient_credits. Test jobs cost no credits."
  />
)

interface KeyLimitFieldsProps {
  workspaces: WorkspaceRow[]
  limits?: KeyLimits
  /** False for a test key, whose jobs cost nothing. */
  hasCredits?: boolean
}

export const KeyLimitFields = ({ workspaces, limits, hasCredits = true }: KeyLimitFieldsProps) => (
  <>
    <Select
      name="access"
      label="Access"
      value={limits?.access}
      options={[
        ['full', ACCESS_LABELS.full],
        ['read', `${ACCESS_LABELS.read}: GET requests`],
      ]}
    />
    <Select
      name="workspace"
      label="Workspace"
      value={limits?.workspaceId ?? ''}
      options={[
        ['', 'All workspaces'],
        ...workspaces
          .filter(({ id, status }) => status === 'active' || id === limits?.workspaceId)
          .map(({ id, name }) => [id, `Only ${name}`] as const),
      ]}
    />
    {hasCredits && <MonthlyCreditsField value={limits?.monthlyCredits} />}
  </>
)

/** @param used credits in this month */
export const usedOf = (limit: number, used = 0): string =>
  `${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`

/** What the limits of a key are, each as a text. @param used credits in this month */
export const limitTexts = (
  { access, workspaceId, monthlyCredits }: KeyLimits,
  workspaces: WorkspaceRow[],
  used: number | undefined,
): string[] => {
  const workspace = workspaces.find(({ id }) => id === workspaceId)?.name ?? workspaceId
  return [
    ACCESS_LABELS[access],
    ...(workspace === null ? [] : [`${workspace} only`]),
    ...(monthlyCredits === null ? [] : [`${usedOf(monthlyCredits, used)} credits this month`]),
  ]
}
