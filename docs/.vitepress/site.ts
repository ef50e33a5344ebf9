// Builds the documentation site from docs/guides. The result is a set of files; scripts/assets.ts writes
// them.
import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'vitepress'
import { checkGuides } from './guides.ts'
import { llmsFullTxt, llmsTxt, markdownOf, ROBOTS_TXT, sitemap } from './texts.ts'

/** Paths below assets/ and their contents. */
export type SiteFiles = Map<string, string | Uint8Array>

/**
 * Builds all pages of `root`, a folder with `guides` and a configuration of VitePress.
 * @throws DocsError which lists broken links, missing pages and missing front matter
 */
export async function buildSite(root: string): Promise<SiteFiles> {
  const guides = await checkGuides(join(root, 'guides'))
  const outDir = mkdtempSync(join(tmpdir(), 'try-on-docs-'))
  try {
    await build(root, { outDir })
    const files: SiteFiles = new Map()
    for (const name of globSync('**/*.*', { cwd: outDir })) {
      const path = name === '404.html' ? 'docs/404.html' : name
      files.set(path, readFileSync(join(outDir, name)))
    }
    const assets = [...files.keys()].filter((path) => path.startsWith('docs/assets/'))
    for (const guide of guides) files.set(`docs/${guide.slug}.md`, markdownOf(guide, assets))
    files.set('llms-full.txt', llmsFullTxt(guides, assets))
    files.set('llms.txt', llmsTxt(guides))
    files.set('robots.txt', ROBOTS_TXT)
    files.set('sitemap.xml', sitemap())
    files.set('favicon.ico', readFileSync(join(import.meta.dirname, 'favicon.ico')))
    files.set('_headers', headers(files))
    return files
  } finally {
    rmSync(outDir, { recursive: true })
  }
}

/** The headers of all pages, which allow the inline scripts of VitePress by their hashes. */
function headers(files: SiteFiles): string {
  const hashes = new Set<string>()
  for (const [path, content] of files) {
    if (!path.endsWith('.html')) continue
    for (const [, script = ''] of String(content).matchAll(
      /<script id="[\w-]+">([^]*?)<\/script>/g,
    ))
      hashes.add(`'sha256-${createHash('sha256').update(script).digest('base64')}'`)
  }
  const template = readFileSync(join(import.meta.dirname, '_headers'), 'utf8')
  return template.replaceAll("script-src 'self'", `script-src 'self' ${[...hashes].join(' ')}`)
}
