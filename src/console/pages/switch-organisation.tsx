// Switches between the organisations of a user, between live and test mode, and between light and dark.
import { z } from 'zod'
import { consolePath } from '../../domain/console-path.ts'
import { MODES } from '../../domain/job.ts'
import { createApp } from '../console-context.ts'
import { AppError } from '../../domain/errors.ts'
import { chosenMode, chosenTheme, THEMES } from '../cookies.ts'
import { parameter } from '../forms.ts'
import { returnTo } from '../return-to.ts'

const Choice = z.object({ theme: parameter(z.enum(THEMES)), mode: parameter(z.enum(MODES)) })

/** The page checks the membership. */
export const switchOrganisation = createApp()
  .post('/organisation', async (c) => {
    const { organisation } = await c.req.parseBody()
    if (typeof organisation !== 'string') throw new AppError('not_found')
    return c.redirect(consolePath(encodeURIComponent(organisation)), 303)
  })
  .post('/theme', async (c) => {
    const { theme } = Choice.parse(await c.req.parseBody())
    if (theme) chosenTheme.set(c, theme)
    return c.redirect(returnTo(c) ?? '/console', 303)
  })
  .post('/mode', async (c) => {
    const { mode } = Choice.parse(await c.req.parseBody())
    if (mode) chosenMode.set(c, mode)
    return c.redirect(pageInNewMode(returnTo(c) ?? '/console'), 303)
  })

/** Parameters that refer to an entry of a list, which has no meaning in the other mode. */
const POSITIONS = new Set(['before', 'after', 'key'])

/**
 * The page to show after the mode has changed: with its filters, but at the start of its list.
 * @param page path and query
 */
export function pageInNewMode(page: string): string {
  const [path = '', query] = page.split('?', 2)
  const filters = [...new URLSearchParams(query)].filter(([name]) => !POSITIONS.has(name))
  return filters.length === 0 ? path : `${path}?${new URLSearchParams(filters)}`
}
