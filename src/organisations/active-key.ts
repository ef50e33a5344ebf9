// Which API keys are active: those without a time of revocation, or with one in the future.
import { sql, type SQL } from 'drizzle-orm'
import { apiKeys, type ApiKeyRow } from '../platform/db/schema.ts'

/** An SQL condition: whether a key is active. */
export const isActiveKey = (): SQL =>
  sql`(${apiKeys.revokedAt} is null or ${apiKeys.revokedAt} > ${Date.now()})`

/** Whether a key is active. */
export const isActive = ({ revokedAt }: Pick<ApiKeyRow, 'revokedAt'>): boolean =>
  revokedAt === null || revokedAt.getTime() > Date.now()
