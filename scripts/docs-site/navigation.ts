// The order of the documentation site's pages. Each slug but `api` is a file of docs/guides.

/** The API reference is a different kind of page: a viewer of /openapi.json. */
export const API_SLUG = 'api'

export const SECTIONS = [
  { title: 'Get started', slugs: ['index', 'quick-start', 'authentication', 'test-mode'] },
  {
    title: 'Guides',
    slugs: ['jobs', 'images', 'webhooks', 'errors', 'idempotency', 'rate-limits', 'billing'],
  },
  { title: 'Tools', slugs: ['typescript', 'python', 'cli', 'local-development'] },
  { title: 'Reference', slugs: [API_SLUG, 'versioning', 'changelog', 'security'] },
]

export const pathOf = (slug: string): string => (slug === 'index' ? '/docs' : `/docs/${slug}`)
