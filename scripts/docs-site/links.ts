// Checks the links of the guides: every page and heading they name exists.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { GUIDE_LINK } from './markdown.ts'
import type { RenderedGuide } from './markdown.ts'
import { API_SLUG } from './navigation.ts'

/** Paths that the Worker or other assets serve. */
const SERVICE_PATHS =
  /^\/(console|docs\/api|openapi\.(json|yaml)|llms\.txt|pricing|docs\/llms-full\.txt)([/#?]|$)/

/** Adds a message for each broken link to `problems`. */
export function checkLinks(guides: RenderedGuide[], folder: string, problems: string[]): void {
  const idsBySlug = new Map(
    guides.map(({ slug, headings }) => [slug, new Set(headings.map(({ id }) => id))]),
  )
  for (const guide of guides) {
    for (const { href, line } of guide.links) {
      const problem = problemOf(guide.slug, href, idsBySlug)
      if (problem) problems.push(`${guide.slug}.md:${line}: the link "${href}" ${problem}.`)
    }
    for (const picture of guide.pictures) {
      if (!existsSync(join(folder, picture)))
        problems.push(`${guide.slug}.md: the picture "${picture}" does not exist.`)
    }
  }
}

function problemOf(
  from: string,
  href: string,
  idsBySlug: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  if (/^(https:|mailto:)/.test(href) || SERVICE_PATHS.test(href)) return undefined
  const [, slug, hash] = href.startsWith('#') ? [href, from, href] : (GUIDE_LINK.exec(href) ?? [])
  if (slug === API_SLUG) return 'names no guide. The API reference is at /docs/api'
  const ids = slug === undefined ? undefined : idsBySlug.get(slug)
  if (!ids) return 'names no guide'
  const id = decodeURIComponent(hash?.slice(1) ?? '')
  return id === '' || ids.has(id) ? undefined : `names a heading that ${slug}.md does not have`
}
