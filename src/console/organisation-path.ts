// The addresses of the current organisation's pages, for handlers. In JSX, use Link and PostForm.
import { consolePath } from '../domain/console-path.ts'
import type { ConsoleContext } from './console-context.ts'
import { setNotice, type NoticeName } from './form-notices.ts'

/** @param page such as `/jobs`; empty for the overview */
export const pathOf = (c: ConsoleContext, page: string): string =>
  consolePath(c.var.membership.organisation.id, page)

/**
 * The response to a form that succeeded: shows a page of the organisation.
 * @param detail what the text of the notice takes
 */
export function redirectTo(
  c: ConsoleContext,
  page: string,
  notice?: NoticeName,
  detail?: string,
): Response {
  if (notice) setNotice(c, notice, detail)
  return c.redirect(pathOf(c, page), 303)
}
