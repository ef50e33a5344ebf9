// Hides the checklist of the overview for this user and organisation.
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import { CHECKLIST_COOKIE } from '../components/go-live-checklist.tsx'
import type { ConsoleApp } from '../context.ts'
import { cookieOptions } from '../cookies.ts'
import { pathOf, redirectTo } from '../organisation-path.ts'

const YEAR_SECONDS = 365 * 24 * 60 * 60

export const checklist = new Hono<ConsoleApp>().post('/hide', (c) => {
  setCookie(c, CHECKLIST_COOKIE, c.var.user.id, {
    ...cookieOptions(c, YEAR_SECONDS),
    path: pathOf(c, ''),
  })
  return redirectTo(c, '')
})
