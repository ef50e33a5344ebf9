// The documentation site: what the build writes, and which mistakes in the guides it reports.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { checkGuides, DocsError } from '../../docs/.vitepress/guides.ts'
import { API_SLUG, SECTIONS } from '../../docs/.vitepress/navigation.ts'
import { buildSite, type SiteFiles } from '../../docs/.vitepress/site.ts'
import { ROOT } from '../../scripts/wrangler.ts'

let root: string
const guide = (name: string) => join(root, `guides/${name}.md`)
const page = (title: string, markdown = '') =>
  `---\ntitle: ${title}\ndescription: About ${title}.\n---\n\n${markdown}`

/** Writes the configuration and a guide for each page. */
function writeSite(): void {
  const imported = (path: string) => JSON.stringify(join(ROOT, 'docs/.vitepress', path))
  mkdirSync(join(root, '.vitepress/theme'), { recursive: true })
  writeFileSync(
    join(root, '.vitepress/config.ts'),
    `import { siteConfig } from ${imported('site-config.ts')}
     export default siteConfig(${JSON.stringify(join(root, 'guides'))})`,
  )
  writeFileSync(
    join(root, '.vitepress/theme/index.ts'),
    `export { default } from ${imported('theme/index.ts')}`,
  )
  writeGuides()
}

function writeGuides(): void {
  rmSync(join(root, 'guides'), { recursive: true, force: true })
  mkdirSync(join(root, 'guides'))
  for (const slug of SECTIONS.flatMap(({ slugs }) => slugs)) writeFileSync(guide(slug), page(slug))
}

before(() => {
  // Inside the repository, where the pages find Vue.
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  root = mkdtempSync(join(ROOT, 'dist/docs-test-'))
  writeSite()
})
after(() => rmSync(root, { recursive: true }))

const JOBS = `See [images](images.md), [why](errors.md#person_not_found) and the [console](/console).

## States

A job is \`pending\`. <script>alert(1)</script>

\`\`\`ts
const a = "<script>"
\`\`\`

|   | n |
| - | -: |
| a | 1 |

> [!WARNING]
> Careful.

> A quotation.
`

describe('the build', () => {
  let files: SiteFiles
  let jobs: string
  const textOf = (path: string) => String(files.get(path))

  before(async () => {
    writeFileSync(guide('jobs'), page('Jobs & states', JOBS))
    writeFileSync(guide('errors'), page('Errors', '### `person_not_found`\n\n## Retry, or not?'))
    files = await buildSite(root)
    jobs = textOf('docs/jobs.html')
  })

  it('writes pages with their title, their Markdown and links to their neighbours', () => {
    assert.match(jobs, /<h1 id="jobs--states"[^>]*>Jobs &amp; states /)
    assert.match(jobs, /<a href="\/docs\/images">images<\/a>/)
    assert.match(jobs, /<a href="\/console" target="_self">console<\/a>/)
    assert.match(jobs, /class="[^"]*pager-link prev" href="\/docs\/test-mode"/)
    assert.match(jobs, /class="[^"]*pager-link next" href="\/docs\/images"/)
    const markdown = `# Jobs & states\n\n> About Jobs & states.\n\n${JOBS}`
    assert.equal(textOf('docs/jobs.md'), markdown)
  })

  it('writes ids like those of GitHub and links to headings of other pages', () => {
    assert.match(textOf('docs/errors.html'), /<h3 id="person_not_found"/)
    assert.match(textOf('docs/errors.html'), /<h2 id="retry-or-not"/)
    assert.match(jobs, /href="\/docs\/errors#person_not_found"/)
  })

  it('escapes HTML and writes no style attributes, which the policy forbids', () => {
    assert.doesNotMatch(jobs, /<script>| style="/)
    assert.match(jobs, /&lt;script&gt;alert/)
    assert.match(textOf('docs/static/code.css'), /\.code-\w+\{--shiki-light:#\w+;--shiki-dark:#/)
  })

  it('allows the inline scripts of the pages by their hashes', () => {
    const policies = textOf('_headers').match(/script-src [^;]*/g) ?? []
    assert.equal(policies.length, 3)
    for (const policy of policies)
      assert.match(policy, /^script-src 'self'( 'sha256-[\w+/]{43}='){2}$/)
  })

  it('writes tables without style attributes and empty headers', () => {
    assert.match(jobs, /<td><\/td>\s*<th class="right">n<\/th>/)
    assert.match(jobs, /<td>a<\/td>\s*<td class="right">1<\/td>/)
  })

  it('shows an alert of GitHub as a note', () => {
    assert.match(jobs, /<div class="warning[^>]*><p class="custom-block-title[^>]*>Warning<\/p>/)
    assert.match(jobs, /<blockquote>\s*<p>A quotation.<\/p>\s*<\/blockquote>/)
  })

  it('lists the sections of every page for the search', () => {
    const index = [...files.keys()].find((path) => path.includes('localSearchIndex')) ?? ''
    for (const id of ['/docs', '/docs/jobs#jobs--states', '/docs/jobs#states'])
      assert.ok(textOf(index).includes(`"${id}`), id)
    assert.match(textOf(index), /"person",|\["person"/)
  })

  it('lists every page in llms.txt', () => {
    const text = textOf('llms.txt')
    assert.match(text, /^# Try-On\n\n> /)
    for (const slug of SECTIONS.flatMap(({ slugs }) => slugs))
      if (slug !== API_SLUG) assert.ok(text.includes(`](/docs/${slug}.md): About `), slug)
    assert.match(textOf('llms-full.txt'), /# security\n\n> About security\./)
  })
})

describe('the build fails for', () => {
  beforeEach(writeGuides)

  /** Asserts that the build fails with this message. */
  const rejects = (message: RegExp) =>
    assert.rejects(
      () => checkGuides(join(root, 'guides')),
      (error) => error instanceof DocsError && message.test(error.message),
    )

  it('a link to a guide that does not exist, with its line', async () => {
    writeFileSync(guide('jobs'), page('Jobs', 'Text.\n\n[x](nowhere.md)'))
    await assert.rejects(() => buildSite(root), /jobs\.md:8: the link "nowhere\.md" names no guide/)
  })

  it('a link to a heading that does not exist', async () => {
    writeFileSync(guide('jobs'), page('Jobs', '[x](errors.md#nope) [y](#nope)'))
    await rejects(/"errors\.md#nope" names a heading.*\n.*"#nope" names a heading/)
  })

  it('a link to another file of the repository', async () => {
    writeFileSync(guide('jobs'), page('Jobs', '[x](../billing.md)'))
    await rejects(/"\.\.\/billing\.md" names no guide/)
  })

  it('a picture that does not exist', async () => {
    writeFileSync(guide('jobs'), page('Jobs', '![x](../images/nope.png)'))
    await rejects(/the picture "\.\.\/images\/nope\.png" does not exist/)
  })

  it('a page without front matter, without a title or with a second title', async () => {
    writeFileSync(guide('jobs'), 'Text.')
    writeFileSync(guide('images'), '---\ntitle: Images\n---\n')
    writeFileSync(guide('errors'), page('Errors', '# Errors'))
    await rejects(/jobs\.md has no front matter/)
    await rejects(/images\.md: front matter:[\s\S]*description/)
    await rejects(/errors\.md:6: a level-1 heading/)
  })

  it('a page that is not in the navigation, and the reverse', async () => {
    writeFileSync(guide('extra'), page('Extra'))
    rmSync(guide('cli'))
    await rejects(/cli\.md is in the navigation, but does not exist[\s\S]*extra\.md is not in/)
  })

  it('a language of code that is not known', async () => {
    writeFileSync(guide('jobs'), page('Jobs', '```brainfuck\n+\n```'))
    await rejects(/jobs\.md:6: the language "brainfuck" is not known/)
  })
})
