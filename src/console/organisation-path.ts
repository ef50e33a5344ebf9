// The addresses of the current organisation's pages, for handlers. In JSX, use Link and PostForm.
import { consolePath } from '../domain/console-path.ts'
import type { ConsoleContext } from './context.ts'

/** @param page such as `/jobs`; empty for the overview */
export const pathOf = (c: ConsoleContext, page: string): string =>
  consolePath(c.var.membership.organisation.id, page)

/** The response to a form that succeeded: shows a page of the organisation. */
export const redirectTo = (c: ConsoleContext, page: string): Response =>
  c.redirect(pathOf(c, page), 303)
