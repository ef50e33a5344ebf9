// The builder of the documentation site: what it writes, and which mistakes in the guides it reports.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { DocsError } from '../../scripts/docs-site/docs-error.ts'
import { API_SLUG, SECTIONS } from '../../scripts/docs-site/navigation.ts'
import { buildSite } from '../../scripts/docs-site/site.ts'
import type { SiteFiles } from '../../scripts/docs-site/site.ts'

let folder: string
const guide = (name: string) => join(folder, `${name}.md`)
const page = (title: string, markdown = '') =>
  `---\ntitle: ${title}\ndescription: About ${title}.\n---\n\n${markdown}`

before(() => (folder = join(mkdtempSync(join(tmpdir(), 'try-on-docs-')), 'guides')))
after(() => rmSync(join(folder, '..'), { recursive: true }))
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const slug of SECTIONS.flatMap(({ slugs }) => slugs))
    if (slug !== API_SLUG) writeFileSync(guide(slug), page(slug))
})

const textOf = (files: SiteFiles, path: string) => String(files.get(path))

/** Asserts that the build fails with this message. */
const rejects = (message: RegExp) =>
  assert.rejects(
    () => buildSite(folder),
    (error) => error instanceof DocsError && message.test(error.message),
  )

describe('a page', () => {
  it('has its title, its Markdown and links to its neighbours', async () => {
    writeFileSync(guide('jobs'), page('Jobs & states', 'See [images](images.md).'))
    const files = await buildSite(folder)
    const html = textOf(files, 'docs/jobs.html')
    assert.match(html, /<h1>Jobs &amp; states<\/h1>/)
    assert.match(html, /<a href="\/docs\/images">images<\/a>/)
    assert.match(html, /class="previous" href="\/docs\/test-mode"/)
    assert.match(html, /class="next" href="\/docs\/images"/)
    const markdown = '# Jobs & states\n\n> About Jobs & states.\n\nSee [images](images.md).\n'
    assert.equal(textOf(files, 'docs/jobs.md'), markdown)
  })

  it('has ids like those of GitHub and links to headings of other pages', async () => {
    writeFileSync(guide('errors'), page('Errors', '### `person_not_found`\n\n## Retry, or not?'))
    writeFileSync(guide('jobs'), page('Jobs', '[Why](errors.md#person_not_found)'))
    const files = await buildSite(folder)
    assert.match(textOf(files, 'docs/errors.html'), /<h3 id="person_not_found">/)
    assert.match(textOf(files, 'docs/errors.html'), /<h2 id="retry-or-not">/)
    assert.match(textOf(files, 'docs/jobs.html'), /href="\/docs\/errors#person_not_found"/)
  })

  it('escapes HTML and has no style attributes, which its policy forbids', async () => {
    const code = '```typescript\nconst a = "<script>"\n```'
    writeFileSync(guide('jobs'), page('Jobs', `<script>alert(1)</script>\n\n${code}`))
    const files = await buildSite(folder)
    const html = textOf(files, 'docs/jobs.html')
    assert.doesNotMatch(html, /<script>|style="/)
    assert.match(html, /&lt;script&gt;alert/)
    assert.match(textOf(files, 'docs/static/code.css'), /\.shiki \.c0 \{ color: ?light-dark\(/)
  })

  it('has tables without style attributes and empty headers', async () => {
    writeFileSync(guide('jobs'), page('Jobs', '|   | n |\n| - | -: |\n| a | 1 |\n'))
    const html = textOf(await buildSite(folder), 'docs/jobs.html')
    assert.match(html, /<td><\/td>\s*<th class="right">n<\/th>/)
    assert.match(html, /<td>a<\/td>\s*<td class="right">1<\/td>/)
  })

  it('shows an alert of GitHub as a note', async () => {
    writeFileSync(guide('jobs'), page('Jobs', '> [!WARNING]\n> Careful.\n\n> A quotation.'))
    const html = textOf(await buildSite(folder), 'docs/jobs.html')
    assert.match(html, /<div class="note warning"><p class="note-label">Warning<\/p>\s*<p>Careful/)
    assert.match(html, /<blockquote>\s*<p>A quotation.<\/p>\s*<\/blockquote>/)
  })
})

it('lists the sections of every page for the search', async () => {
  writeFileSync(guide('jobs'), page('Jobs', 'Intro.\n\n## States\n\nA job is `pending`.'))
  const entries: unknown = JSON.parse(textOf(await buildSite(folder), 'docs/static/search.json'))
  assert.ok(Array.isArray(entries))
  assert.deepEqual(
    entries.filter(({ page }) => page === 'Jobs'),
    [
      { href: '/docs/jobs', page: 'Jobs', heading: 'Jobs', body: 'About Jobs. Intro.' },
      { href: '/docs/jobs#states', page: 'Jobs', heading: 'States', body: 'A job is pending.' },
    ],
  )
})

it('lists every page in llms.txt', async () => {
  const files = await buildSite(folder)
  const text = textOf(files, 'llms.txt')
  assert.match(text, /^# Try-On\n\n> /)
  for (const slug of SECTIONS.flatMap(({ slugs }) => slugs))
    if (slug !== API_SLUG) assert.ok(text.includes(`](/docs/${slug}.md): About ${slug}.`), slug)
  assert.match(textOf(files, 'docs/llms-full.txt'), /# security\n\n> About security\./)
})

describe('the build fails for', () => {
  it('a link to a guide that does not exist, with its line', async () => {
    writeFileSync(guide('jobs'), page('Jobs', 'Text.\n\n[x](nowhere.md)'))
    await rejects(/jobs\.md:8: the link "nowhere\.md" names no guide/)
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
