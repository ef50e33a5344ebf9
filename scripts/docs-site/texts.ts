// The plain-text files of the site: Markdown of each page, llms.txt, llms-full.txt and robots.txt.
import { EXAMPLE_ORIGIN } from '../../src/domain/docs.ts'
import type { Guide } from './guides.ts'
import { pictureAddress } from './markdown.ts'
import type { RenderedGuide } from './markdown.ts'
import { API_SLUG, SECTIONS } from './navigation.ts'

/** The Markdown of a page, with its title. Links to other pages are relative, as in the source. */
export function markdownOf({ title, description, markdown }: Guide): string {
  const body = markdown.replace(
    /!\[([^\]]*)\]\(([^)]+)\)/g,
    (_, alt: string, file: string) => `![${alt}](${pictureAddress(file)})`,
  )
  return `# ${title}\n\n> ${description}\n\n${body.trim()}\n`
}

const SUMMARY = `# Try-On

> Virtual try-on API: send the URLs of a photo of a person and a picture of a garment, receive one picture of the
> person wearing the garment. Jobs are asynchronous; a successful job costs one credit.

The examples use the base address ${EXAMPLE_ORIGIN}. Replace it by the address that served this file. Requests
authenticate with \`Authorization: Bearer <API key>\`. Test keys start with \`svc_test_sk_\` and are free.
`

/** The index of the documentation in the format of llmstxt.org. */
export function llmsTxt(guides: RenderedGuide[]): string {
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
  const all = '## Optional\n\n- [All pages in one file](/docs/llms-full.txt): the complete text.\n'
  return [SUMMARY, ...sections, all].join('\n')
}

export const llmsFullTxt = (guides: RenderedGuide[]): string =>
  [SUMMARY, ...guides.map(markdownOf)].join('\n---\n\n')

export const ROBOTS_TXT = `User-agent: *
Allow: /docs
Disallow: /console/
Disallow: /operator/
Disallow: /outputs/
Disallow: /sandbox/
Disallow: /uploads/
Disallow: /v1/
`
