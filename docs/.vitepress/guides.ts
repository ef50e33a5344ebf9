// Reads docs/guides and checks what VitePress does not: front matter, headings, languages of code,
// pictures, links to headings, and that the navigation lists each page.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMarkdownRenderer, disposeMdItInstance } from 'vitepress'
import { parse } from 'yaml'
import { z } from 'zod'
import { GUIDE_LINK, LANGUAGES, markdownOptions, TITLE_LINES, type Token } from './markdown.ts'
import { API_SLUG, SECTIONS, SERVICE_PATHS } from './navigation.ts'

export interface Guide {
  slug: string
  title: string
  /** One sentence, in plain text. */
  description: string
  /** The section of the navigation. */
  section: string
  markdown: string
  /** The number of lines before the Markdown, for messages. */
  lineOffset: number
}

/** The message lists all mistakes. */
export class DocsError extends Error {
  override readonly name = 'DocsError'

  constructor(problems: string[]) {
    super(
      `The documentation site was not built:\n${problems.map((each) => `  ${each}`).join('\n')}`,
    )
  }
}

/**
 * Reads the guides in `folder` and checks them.
 * @throws DocsError which lists broken links, missing pages and missing front matter
 */
export async function checkGuides(folder: string): Promise<Guide[]> {
  const problems: string[] = []
  const guides = readGuides(folder, problems)
  // Without colours, and not the instance that VitePress uses later.
  const options = { ...markdownOptions, highlight: (code: string) => code }
  disposeMdItInstance()
  const renderer = await createMarkdownRenderer(folder, options)
  disposeMdItInstance()
  const tokens = new Map(
    guides.map(({ slug, markdown, ...frontmatter }) => [
      slug,
      renderer.parse(markdown, { frontmatter }).flatMap(withChildren),
    ]),
  )
  const ids = new Map([...tokens].map(([slug, all]) => [slug, idsOf(all)]))
  for (const { slug, lineOffset } of guides) {
    let line = 0
    for (const token of tokens.get(slug) ?? []) {
      if (token.map) line = lineOffset - TITLE_LINES + token.map[0] + 1
      if (line <= lineOffset) continue // The title is not in the file.
      const problem = problemOf(token, slug, folder, ids)
      if (problem) problems.push(`${slug}.md:${line}: ${problem}.`)
    }
  }
  if (problems.length > 0) throw new DocsError(problems)
  return guides
}

const withChildren = (token: Token): Token[] => [token, ...(token.children ?? [])]

const attribute = (token: Token, name: string): string => token.attrGet(name) ?? ''

const idsOf = (tokens: Token[]): ReadonlySet<string> =>
  new Set(
    tokens.filter(({ type }) => type === 'heading_open').map((token) => attribute(token, 'id')),
  )

function problemOf(
  token: Token,
  slug: string,
  folder: string,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  const { type, tag, info } = token
  if (type === 'heading_open' && tag === 'h1')
    return 'a level-1 heading. The title is in the front matter'
  if (type === 'fence' && info !== '' && !Object.hasOwn(LANGUAGES, info))
    return `the language "${info}" is not known`
  if (type === 'image') {
    const file = attribute(token, 'src')
    return existsSync(join(folder, file)) ? undefined : `the picture "${file}" does not exist`
  }
  if (type !== 'link_open' || attribute(token, 'class') === 'header-anchor') return undefined
  const href = attribute(token, 'href')
  const problem = linkProblem(slug, href, ids)
  return problem && `the link "${href}" ${problem}`
}

function linkProblem(
  from: string,
  href: string,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): string | undefined {
  if (/^(https:|mailto:)/.test(href) || SERVICE_PATHS.test(href)) return undefined
  const [, slug, hash] = href.startsWith('#') ? [href, from, href] : (GUIDE_LINK.exec(href) ?? [])
  if (slug === API_SLUG) return 'names no guide. The API reference is at /docs/api'
  const headings = slug === undefined ? undefined : ids.get(slug)
  if (!headings) return 'names no guide'
  const id = decodeURIComponent(hash?.slice(1) ?? '')
  return id === '' || headings.has(id) ? undefined : `names a heading that ${slug}.md does not have`
}

const FrontMatter = z.strictObject({ title: z.string().min(1), description: z.string().min(1) })
const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/

/** The guides in the order of the navigation. Adds the mistakes it finds to `problems`. */
export function readGuides(folder: string, problems: string[]): Guide[] {
  const guides: Guide[] = []
  const listed = new Set<string>()
  for (const { title: section, slugs } of SECTIONS) {
    for (const slug of slugs) {
      listed.add(`${slug}.md`)
      if (slug === API_SLUG) continue
      const file = join(folder, `${slug}.md`)
      if (!existsSync(file)) problems.push(`${slug}.md is in the navigation, but does not exist.`)
      else guides.push(...readGuide(slug, section, readFileSync(file, 'utf8'), problems))
    }
  }
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.md') && !listed.has(file))
      problems.push(`${file} is not in the navigation (docs/.vitepress/navigation.ts).`)
  }
  return guides
}

function readGuide(slug: string, section: string, text: string, problems: string[]): Guide[] {
  const [block = '', yaml] = FRONT_MATTER.exec(text) ?? []
  if (yaml === undefined) {
    problems.push(`${slug}.md has no front matter with title and description.`)
    return []
  }
  const frontMatter = FrontMatter.safeParse(parseYaml(yaml))
  if (!frontMatter.success) {
    problems.push(`${slug}.md: front matter: ${z.prettifyError(frontMatter.error)}`)
    return []
  }
  const lineOffset = block.split('\n').length - 1
  return [{ slug, section, ...frontMatter.data, markdown: text.slice(block.length), lineOffset }]
}

function parseYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
