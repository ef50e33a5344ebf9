// The order of the documentation site's pages. Each slug is a file of docs/guides.

/** The API reference is a different kind of page: a viewer of /openapi.json. */
export const API_SLUG = 'api'

export const SECTIONS = [
  { title: 'Get started', slugs: ['index', 'quick-start', 'authentication', 'test-mode'] },
  {
    title: 'Guides',
    slugs: [
      'jobs',
      'images',
      'marked-pictures',
      'webhooks',
      'errors',
      'idempotency',
      'rate-limits',
      'billing',
    ],
  },
  { title: 'Tools', slugs: ['typescript', 'python', 'cli', 'local-development'] },
  { title: 'Reference', slugs: [API_SLUG, 'versioning', 'changelog', 'security'] },
]

export const pathOf = (slug: string): string => (slug === 'index' ? '/docs' : `/docs/${slug}`)

/** The Markdown of a page of VitePress, such as `docs/jobs.md`. */
export const markdownPath = (page: string): string =>
  page === 'docs.md' ? '/docs/index.md' : `/${page}`

/** Attributes of a link that the browser follows itself: the page is none of the site's or has its own policy. */
export const OWN_PAGE = { target: '_self', noIcon: true }

/** Paths that the Worker or other assets serve. */
export const SERVICE_PATHS =
  /^\/(console|docs\/api|openapi\.(json|yaml)|llms\.txt|pricing|llms-full\.txt|static\/postman\.json)([/#?]|$)/
