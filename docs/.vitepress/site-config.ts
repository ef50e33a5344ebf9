// What VitePress makes of the guides: addresses, navigation, search, and HTML without inline styles.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type HeadConfig } from 'vitepress'
import { readGuides } from './guides.ts'
import { codeColours, markdownOptions } from './markdown.ts'
import { API_SLUG, markdownPath, OWN_PAGE, pathOf, SECTIONS } from './navigation.ts'

/** The configuration for the guides in `folder`. */
export function siteConfig(folder: string) {
  const titles = new Map(readGuides(folder, []).map(({ slug, title }) => [slug, title]))
  titles.set('index', 'Overview').set(API_SLUG, 'API reference')

  return defineConfig({
    lang: 'en',
    title: 'Try-On Docs',
    titleTemplate: ':title · Try-On documentation',
    srcDir: folder,
    rewrites: { 'index.md': 'docs.md', ':page.md': 'docs/:page.md' },
    assetsDir: 'docs/assets',
    // Otherwise a change of the theme adds a style element, which the policy of the site forbids.
    appearance: { disableTransition: false },
    cleanUrls: true,
    ignoreDeadLinks: true, // guides.ts reports them, with links to headings.
    markdown: markdownOptions,
    head: [
      ['link', { rel: 'icon', href: '/static/icon.svg', type: 'image/svg+xml' }],
      ['link', { rel: 'stylesheet', href: '/docs/static/code.css' }],
    ],
    transformPageData: ({ relativePath }) =>
      relativePath === 'docs.md' ? { titleTemplate: false } : undefined,
    transformHead: ({ page, pageData }) =>
      page === '404.md'
        ? [['meta', { name: 'robots', content: 'noindex' }]]
        : [
            ['meta', { property: 'og:site_name', content: 'Try-On documentation' }],
            ['meta', { property: 'og:type', content: 'article' }],
            ['meta', { property: 'og:title', content: pageData.title }],
            ['meta', { property: 'og:description', content: pageData.description }],
            ...(pageData.frontmatter['layout'] === undefined ? [markdownLink(page)] : []),
          ],
    transformHtml: (html, _file, { page, content }) =>
      (page === '404.md' ? html.replace('<div id="app">', `<div id="app">${content}`) : html)
        // The policy of the site forbids style attributes. Scripts may set them.
        .replaceAll(/(<[^<>]*) style="[^"]*"/g, '$1'),
    buildEnd({ outDir }) {
      mkdirSync(join(outDir, 'docs/static'), { recursive: true })
      writeFileSync(join(outDir, 'docs/static/code.css'), codeColours.getCSS())
    },
    themeConfig: {
      siteTitle: 'Try-On Docs',
      logo: '/static/icon.svg',
      nav: [
        { text: 'API reference', link: '/docs/api', ...OWN_PAGE },
        { text: 'Console', link: '/console', ...OWN_PAGE },
      ],
      sidebar: SECTIONS.map(({ title, slugs }) => ({
        text: title,
        items: slugs.map((slug) => ({
          text: titles.get(slug) ?? slug,
          link: pathOf(slug),
          ...(slug === API_SLUG && OWN_PAGE),
        })),
      })),
      outline: [2, 3],
      docFooter: { prev: 'Previous', next: 'Next' },
      darkModeSwitchLabel: 'Dark theme',
      darkModeSwitchTitle: 'Use the dark theme',
      lightModeSwitchTitle: 'Use the light theme',
      search: {
        provider: 'local',
        options: {
          detailedView: true,
          disableQueryPersistence: true,
          miniSearch: {
            options: { tokenize: tokensOf },
            searchOptions: {
              tokenize: wordsOf,
              combineWith: 'AND',
              prefix: true,
              fuzzy: (term) => (term.length > 4 && !term.includes('_') ? 0.2 : false),
              boost: { title: 4, titles: 2 },
            },
          },
        },
      },
    },
    vite: {
      logLevel: 'warn',
      publicDir: false,
      build: {
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 1000,
        // These know light-dark().
        cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      },
      plugins: [accessibleSearch],
    },
  })
}

const markdownLink = (page: string): HeadConfig => [
  'link',
  { rel: 'alternate', type: 'text/markdown', href: markdownPath(page) },
]

/** The search of VitePress is a button that contains links, which screen readers cannot reach. */
const accessibleSearch = {
  name: 'accessible-search',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    if (!id.endsWith('/VPLocalSearchBox.vue')) return undefined
    const attributes = [
      / :aria-owns="[^"]*"\s+aria-expanded="true"\s+aria-haspopup="listbox"/,
      / :role="results\?\.length \? 'listbox' : undefined"/,
      / :aria-selected="[^"]*"\s+role="option"/,
      / :aria-label="\[\.\.\.p\.titles, p\.title\][^"]*"/,
    ]
    if (!attributes.every((pattern) => pattern.test(code))) throw new Error(`${id} has changed.`)
    const dialog = code
      .replace('role="button"', 'role="dialog" aria-modal="true"')
      .replace('class="search-keyboard-shortcuts"', '$& aria-hidden="true"')
    return attributes.reduce((text, pattern) => text.replace(pattern, ''), dialog)
  },
}

// VitePress sends the source of these functions to the browser, so that each one stands alone.

/** Words, where a code such as person_not_found or an address path stays whole. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? []
}

/** Words and the parts of codes, so that both `person_not_found` and `person not found` match. */
function tokensOf(text: string): string[] {
  const words: string[] = text.match(/[\p{L}\p{N}_]+/gu) ?? []
  return words.flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]))
}
