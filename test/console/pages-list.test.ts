import { expect, it } from 'vitest'
import { pages, publicPages } from '../../src/console/console.tsx'
import {
  GUEST_PAGES,
  ORGANISATION_PAGES,
  OTHER_ROUTES,
  SIGN_UP_PAGES,
  USER_PAGES,
} from '../browser/support/pages.ts'

const withoutPattern = (route: string) => route.replaceAll(/\{[^}]*\}/g, '').replace(/\/$/, '')

it('the list of pages for the browser tests contains every page', () => {
  const listed = new Set([
    ...ORGANISATION_PAGES.map((page) => `/console/:organisationId${page}`),
    ...[...USER_PAGES, ...GUEST_PAGES, ...SIGN_UP_PAGES].map((page) => page.split('?')[0]),
    '/console/invitations/:token',
  ])
  const routes = [...pages.routes, ...publicPages.routes]
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => withoutPattern(path))
    .filter((route) => !OTHER_ROUTES.some((pattern) => pattern.test(route)))
  expect([...new Set(routes)].filter((route) => !listed.has(route))).toEqual([])
})
