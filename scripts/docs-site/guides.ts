// Reads docs/guides: front matter and Markdown of each page, compared with the navigation.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { API_SLUG, SECTIONS } from './navigation.ts'

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

const FrontMatter = z.strictObject({ title: z.string().min(1), description: z.string().min(1) })
const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/

/** The guides in the order of the navigation. Adds the mistakes it finds to `problems`. */
export function readGuides(folder: string, problems: string[]): Guide[] {
  const guides: Guide[] = []
  const listed = new Set<string>()
  for (const { title: section, slugs } of SECTIONS) {
    for (const slug of slugs) {
      if (slug === API_SLUG) continue
      listed.add(`${slug}.md`)
      const file = join(folder, `${slug}.md`)
      if (!existsSync(file)) problems.push(`${slug}.md is in the navigation, but does not exist.`)
      else guides.push(...readGuide(slug, section, readFileSync(file, 'utf8'), problems))
    }
  }
  for (const file of readdirSync(folder)) {
    if (file.endsWith('.md') && !listed.has(file))
      problems.push(`${file} is not in the navigation (scripts/docs-site/navigation.ts).`)
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
