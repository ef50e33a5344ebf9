// Builds the documentation site from docs/guides and src/docs. The result is a set of files; assets.ts
// writes them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DocsError } from './docs-error.ts'
import { readGuides } from './guides.ts'
import { apiPage, guidePage, notFoundPage, titlesOf } from './layout.ts'
import { checkLinks } from './links.ts'
import { createRenderer, pictureAddress } from './markdown.ts'
import type { RenderedGuide } from './markdown.ts'
import { pathOf } from './navigation.ts'
import { llmsFullTxt, llmsTxt, markdownOf, ROBOTS_TXT } from './texts.ts'

/** Paths below assets/ and their contents. */
export type SiteFiles = Map<string, string | Uint8Array>

/**
 * Renders all pages of the guides in `folder`.
 * @throws DocsError which lists broken links, missing pages and missing front matter
 */
export async function buildSite(folder: string): Promise<SiteFiles> {
  const problems: string[] = []
  const read = readGuides(folder, problems)
  const renderer = await createRenderer(problems)
  const guides = read.map((guide) => renderer.render(guide))
  checkLinks(guides, folder, problems)
  if (problems.length > 0) throw new DocsError(problems)

  const titles = titlesOf(guides)
  const files: SiteFiles = new Map()
  for (const guide of guides) {
    files.set(`${pathOf(guide.slug).slice(1)}.html`, await guidePage(guide, titles))
    files.set(`docs/${guide.slug}.md`, markdownOf(guide))
    for (const picture of guide.pictures)
      files.set(pictureAddress(picture).slice(1), readFileSync(join(folder, picture)))
  }
  files.set('docs/api.html', await apiPage(titles))
  files.set('docs/404.html', await notFoundPage(titles))
  files.set('docs/static/code.css', renderer.styles())
  files.set('docs/static/search.json', JSON.stringify(searchEntries(guides)))
  files.set('docs/llms-full.txt', llmsFullTxt(guides))
  files.set('llms.txt', llmsTxt(guides))
  files.set('robots.txt', ROBOTS_TXT)
  return files
}

/** One entry for each section of each page. search.js indexes them in the browser. */
const searchEntries = (guides: RenderedGuide[]) =>
  guides.flatMap(({ slug, title, headings }) =>
    headings.map(({ id, text, body }) => ({
      href: pathOf(slug) + (id && `#${id}`),
      page: title,
      heading: text,
      body: body.replace(/\s+/g, ' '),
    })),
  )
