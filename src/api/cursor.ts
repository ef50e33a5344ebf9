// Cursors of lists: the id of a page's last item, signed together with the list and its filters. A cursor is valid
// only for the list that it was created for.
import { z } from 'zod'
import { invalid } from '../domain/errors.ts'
import { PageLimit } from '../http/pagination.ts'
import { signer, verify } from '../platform/signing/hmac.ts'

/** The query parameters that select a page of a list. */
export const pageParameters = {
  limit: PageLimit,
  cursor: z.string('must not be repeated').optional().meta({
    description:
      'The `next_cursor` of the previous page. It is opaque, and valid only with the filters of that page.',
    maxLength: 255,
  }),
}

/** The fields of a page that lead to the next one. */
export const nextPageFields = {
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'The `cursor` of the next page. Null on the last page.' }),
  has_more: z.boolean().meta({ description: 'Whether another page follows.' }),
}

/** What identifies a list: the organisation and the filters. Only the list of jobs has no name in front. */
export type List = readonly (string | Date | null)[]

export const createCursor = (env: Env, list: List, lastId: string): string =>
  `${lastId}.${signer(env, 'cursor')(signedText(list, lastId))}`

/**
 * Where a page starts: the id that its `cursor` contains.
 * @throws AppError validation_error for a cursor of another list
 */
export function startOf(env: Env, list: List, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const [lastId = '', signature = '', ...rest] = cursor.split('.')
  const isValid = verify(env, 'cursor', signedText(list, lastId), signature)
  if (isValid && rest.length === 0) return lastId
  throw invalid('cursor must be the next_cursor of a page with the same filters.')
}

const signedText = (list: List, lastId: string) => JSON.stringify([...list, lastId])
