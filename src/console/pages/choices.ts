// What a user chooses in the header: live or test mode, and the theme.
import { createApp } from '../console-context.ts'
import { chosenMode, chosenTheme } from '../cookies.ts'
import { textIn } from '../forms.ts'
import { returnTo } from '../return-to.ts'

export const choices = createApp()
  .post('/theme', async (c) => {
    chosenTheme.set(c, await textIn(c, 'theme'))
    return c.redirect(returnTo(c) ?? '/console', 303)
  })
  .post('/mode', async (c) => {
    chosenMode.set(c, await textIn(c, 'mode'))
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
