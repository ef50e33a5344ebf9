import { h } from 'vue'
import { pathOf } from '../navigation.ts'

const PAGES = [
  ['index', 'Overview'],
  ['quick-start', 'Quick start'],
  ['errors', 'Errors'],
  ['webhooks', 'Webhooks'],
] as const

/** Shown for unknown addresses below /docs. */
export const NotFound = () =>
  h('main', { class: 'not-found vp-doc' }, [
    h('h1', 'Page not found'),
    h('p', 'There is no page of the documentation at this address.'),
    h('p', 'Search at the top of the page, or go to one of these pages:'),
    h(
      'ul',
      PAGES.map(([slug, title]) => h('li', h('a', { href: pathOf(slug) }, title))),
    ),
  ])
