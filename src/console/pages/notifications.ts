// The form of the section "Notifications" of the account page.
import { Hono } from 'hono'
import { updatePreferences } from '../../notifications/preferences.ts'
import type { ConsoleApp } from '../context.ts'
import { actorOf } from '../middleware/session.ts'

export const notifications = new Hono<ConsoleApp>().post('/', async (c) => {
  const form = await c.req.formData()
  const on = new Set(form.getAll('on'))
  const choices = new Map(form.getAll('shown').map((name) => [String(name), on.has(name)]))
  await updatePreferences({ env: c.env, actor: actorOf(c), choices })
  return c.redirect('/console/account?notifications=saved#notifications', 303)
})
