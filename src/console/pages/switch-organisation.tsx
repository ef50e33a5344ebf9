// Switches between the organisations of a user, between live and test mode, and between light and dark.
import { Hono } from 'hono'
import { z } from 'zod'
import { consolePath } from '../../domain/console-path.ts'
import { MODES } from '../../domain/job.ts'
import type { ConsoleApp } from '../console-context.ts'
import { AppError } from '../../domain/errors.ts'
import { pageInNewMode, selectMode } from '../middleware/selected-mode.ts'
import { selectTheme, THEMES } from '../theme.ts'
import { readForm } from '../read-form.ts'
import { returnTo } from '../return-to.ts'

/** The page checks the membership. */
export const switchOrganisation = new Hono<ConsoleApp>()
  .post('/organisation', async (c) => {
    const form = await readForm(c, z.object({ organisation: z.string() }))
    if (!form.ok) throw new AppError('not_found')
    return c.redirect(consolePath(encodeURIComponent(form.data.organisation)), 303)
  })
  .post('/theme', async (c) => {
    const form = await readForm(c, z.object({ theme: z.enum(THEMES) }))
    if (form.ok) selectTheme(c, form.data.theme)
    return c.redirect(returnTo(c) ?? '/console', 303)
  })
  .post('/mode', async (c) => {
    const form = await readForm(c, z.object({ mode: z.enum(MODES) }))
    if (form.ok) selectMode(c, form.data.mode)
    return c.redirect(pageInNewMode(returnTo(c) ?? '/console'), 303)
  })
