import { textsOf } from './read-form.ts'

/** The texts of a query that are not empty, for a link or a form. */
export const fieldsOf = (query: object): Record<string, string> =>
  Object.fromEntries(Object.entries(textsOf(query)).filter(([, value]) => value !== ''))

/** `page` with what is set of a query, such as `/jobs?status=failed`. */
export function withQuery(page: string, query: object): string {
  const text = new URLSearchParams(fieldsOf(query)).toString()
  return text === '' ? page : `${page}?${text}`
}
