// Keeps the POST of a rejected form out of the browser's history. The page with the errors is stored,
// and a redirect shows it once at the address of the form. Back and Reload then load the form again.
import { getCookie, setCookie } from 'hono/cookie'
import { createMiddleware } from 'hono/factory'
import {
  REJECTED_PAGE_SECONDS,
  storeRejectedPage,
  takeRejectedPage,
} from '../../accounts/rejected-pages.ts'
import { log } from '../../log.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { cookieOptions } from '../cookies.ts'
import { refererOf } from '../return-to.ts'

const COOKIE = 'try-on.rejected'
/** The pages that use this middleware. */
const PAGES = /^\/(console|sandbox|pricing)([/?]|$)/

/** Applies to browsers only: other clients receive the page with its status. */
export const redirectRejectedForms = createMiddleware<ConsoleApp>(async (c, next) => {
  if (c.req.method === 'GET') return (await storedPage(c)) ?? next()
  await next()
  const isForm = c.req.method === 'POST' && c.req.header('Sec-Fetch-Mode') === 'navigate'
  if (isForm && c.res.status >= 400) await redirectToForm(c)
})

async function storedPage(c: ConsoleContext): Promise<Response | null> {
  const token = getCookie(c, COOKIE)
  if (!token) return null
  const { pathname, search } = new URL(c.req.url)
  const page = await takeRejectedPage({ env: c.env, path: pathname + search, token })
  if (!page) return null
  setCookie(c, COOKIE, '', { ...cookieOptions(c, 0), path: pathname })
  return new Response(page.html, {
    status: page.status,
    headers: { 'Content-Type': 'text/html; charset=UTF-8' },
  })
}

async function redirectToForm(c: ConsoleContext): Promise<void> {
  if (!c.res.headers.get('Content-Type')?.startsWith('text/html')) return
  // A page of another site must not choose what this site shows later.
  if (c.req.header('Sec-Fetch-Site') !== 'same-origin') return
  const referer = refererOf(c)
  const path = referer && PAGES.test(referer) ? referer : c.req.path
  try {
    const page = { status: c.res.status, html: await c.res.clone().text() }
    const token = await storeRejectedPage({ env: c.env, path, page })
    if (!token) return
    const [pathname = path] = path.split('?')
    setCookie(c, COOKIE, token, { ...cookieOptions(c, REJECTED_PAGE_SECONDS), path: pathname })
    c.res = c.redirect(path, 303)
  } catch (error) {
    log.error('the page of a rejected form was not stored', error)
  }
}
