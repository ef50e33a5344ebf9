// The texts of the site for programs: Markdown of each page, llms.txt, llms-full.txt, robots.txt and sitemap.xml. The
// Worker replaces the example address in them (src/api/site-texts.ts).
import { EXAMPLE_ORIGIN } from '../../src/domain/docs.ts'
import type { Guide } from './guides.ts'
import { API_SLUG, pathOf, SECTIONS } from './navigation.ts'

/**
 * The Markdown of a page, with its title. Links to other pages are relative, as in the source.
 * @param assets paths of the site's assets, whose names have a hash
 */
export function markdownOf({ title, description, markdown }: Guide, assets: string[]): string {
  const body = markdown.replaceAll(
    /\]\(\.\.\/images\/(.+?)(\.\w+)\)/g,
    (_, name: string, extension: string) => {
      const asset = assets.find(
        (path) => path.startsWith(`docs/assets/${name}.`) && path.endsWith(extension),
      )
      return `](/${asset})`
    },
  )
  return `# ${title}\n\n> ${description}\n\n${body.trim()}\n`
}

const SUMMARY = `# Try-On

> Virtual try-on API: send the URLs of a photo of a person and a picture of a garment, receive one picture of the
> person wearing the garment. Jobs are asynchronous; a successful job costs one credit.

The base address of the API is ${EXAMPLE_ORIGIN}. Requests authenticate with \`Authorization: Bearer <API key>\`. Test keys start with \`svc_test_sk_\` and are free.
`

/** The index of the documentation in the format of llmstxt.org. */
export function llmsTxt(guides: Guide[]): string {
  const bySlug = new Map(guides.map((guide) => [guide.slug, guide]))
  const sections = SECTIONS.map(({ title, slugs }) => {
    const lines = slugs.flatMap((slug) => {
      if (slug === API_SLUG)
        return [
          '- [OpenAPI document, JSON](/openapi.json): every operation, schema and error of the API.',
          '- [OpenAPI document, YAML](/openapi.yaml): the same document.',
        ]
      const guide = bySlug.get(slug)
      return guide ? [`- [${guide.title}](/docs/${slug}.md): ${guide.description}`] : []
    })
    return `## ${title}\n\n${lines.join('\n')}\n`
  })
  const all = '## Optional\n\n- [All pages in one file](/llms-full.txt): the complete text.\n'
  return [SUMMARY, ...sections, all].join('\n')
}

export const llmsFullTxt = (guides: Guide[], assets: string[]): string =>
  [SUMMARY, ...guides.map((guide) => markdownOf(guide, assets))].join('\n---\n\n')

export const ROBOTS_TXT = `User-agent: *
Allow: /docs
Disallow: /console/
Disallow: /operator/
Disallow: /outputs/
Disallow: /sandbox/
Disallow: /uploads/
Disallow: /v1/

Sitemap: ${EXAMPLE_ORIGIN}/sitemap.xml
`

/** The pages of the site for search engines (sitemaps.org). */
export function sitemap(): string {
  const urls = SECTIONS.flatMap(({ slugs }) => slugs).map(
    (slug) => `  <url><loc>${EXAMPLE_ORIGIN}${pathOf(slug)}</loc></url>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`
}
