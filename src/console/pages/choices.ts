// What a user chooses in the header: live or test mode, and the theme.
import { z } from 'zod'
import { MODES } from '../../domain/job.ts'
import { createApp } from '../console-context.ts'
import { chosenMode, chosenTheme, THEMES } from '../cookies.ts'
import { parameter } from '../forms.ts'
import { returnTo } from '../return-to.ts'

const Choice = z.object({ theme: parameter(z.enum(THEMES)), mode: parameter(z.enum(MODES)) })

export const choices = createApp()
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
