// How VitePress renders the Markdown of the guides: title, anchors, code, tables and links of the site.
import { transformerStyleToClass } from '@shikijs/transformers'
import type { MarkdownOptions, MarkdownRenderer } from 'vitepress'
import { OWN_PAGE, pathOf, SERVICE_PATHS } from './navigation.ts'

export type Token = ReturnType<MarkdownRenderer['parse']>[number]

/** The languages of code and their labels. */
export const LANGUAGES = {
  console: 'Terminal',
  go: 'Go',
  html: 'HTML',
  http: 'HTTP',
  js: 'JavaScript',
  json: 'JSON',
  php: 'PHP',
  python: 'Python',
  sh: 'Shell',
  sql: 'SQL',
  text: 'Text',
  ts: 'TypeScript',
}

/** Moves the colours of code to classes, because the policy of the site forbids style attributes. */
export const codeColours = transformerStyleToClass({ classPrefix: 'code-' })

/** The copy button ignores the output in a terminal session. */
const terminalOutput: NonNullable<MarkdownOptions['codeTransformers']>[number] = {
  line(node, line) {
    const isOutput = !this.source.split('\n')[line - 1]?.startsWith('$ ')
    if (this.options.lang === 'console' && isOutput) this.addClassToHast(node, 'vp-copy-ignore')
  },
}

/** The id that GitHub gives a heading, so that links work in the repository and on the site. */
const slugOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')

export const markdownOptions: MarkdownOptions = {
  html: false,
  linkify: false,
  component: false,
  attrs: false,
  emoji: false,
  include: false,
  snippet: false,
  // Both have a contrast of at least 4.5:1.
  theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  languageLabel: LANGUAGES,
  codeCopyButton: { tooltipText: 'Copy', copiedText: 'Copied' },
  codeTransformers: [terminalOutput, codeColours],
  anchor: { slugify: slugOf },
  container: {
    noteLabel: 'Note',
    tipLabel: 'Tip',
    importantLabel: 'Important',
    warningLabel: 'Warning',
    cautionLabel: 'Caution',
  },
  config(md) {
    showTitle(md)
    renderTerminal(md)
    renderCells(md)
    renderLinks(md)
  },
}

/** The lines that `showTitle` adds. */
export const TITLE_LINES = 4

/** The front matter has the title and the description, so that the Markdown does not repeat them. */
function showTitle(md: MarkdownRenderer): void {
  md.core.ruler.before('normalize', 'title', (state) => {
    const { title, description, layout } = state.env.frontmatter ?? {}
    if (title && !layout) state.src = `# ${title}\n\n${description}\n\n${state.src}`
  })
}

/** The copy button removes the prompt from code of a shell. */
function renderTerminal(md: MarkdownRenderer): void {
  const render = ruleOf(md, 'fence')
  md.renderer.rules['fence'] = (...args) =>
    render(...args).replace('class="language-console', 'class="language-shell')
}

/** Cells are aligned by classes, and an empty header is a cell. */
function renderCells(md: MarkdownRenderer): void {
  const cell: Rule = (tokens, index) => {
    const [token, content, end] = tokens.slice(index)
    if (!token || !end) return ''
    const [, alignment] = /text-align:(\w+)/.exec(token.attrGet('style') ?? '') ?? []
    if (content?.content === '') token.tag = end.tag = 'td'
    return alignment ? `<${token.tag} class="${alignment}">` : `<${token.tag}>`
  }
  md.renderer.rules['th_open'] = cell
  md.renderer.rules['td_open'] = cell
}

/** Links to guides are relative, so that they work in the repository. The Worker serves some others. */
function renderLinks(md: MarkdownRenderer): void {
  const render = ruleOf(md, 'link_open')
  md.renderer.rules['link_open'] = (tokens, index, options, env, self) => {
    const token = tokens[index]
    const href = token?.attrGet('href') ?? ''
    const [, slug, anchor = ''] = GUIDE_LINK.exec(href) ?? []
    if (slug) token?.attrSet('href', pathOf(slug) + anchor)
    if (!SERVICE_PATHS.test(href)) return render(tokens, index, options, env, self)
    token?.attrSet('target', OWN_PAGE.target)
    return self.renderToken(tokens, index, options)
  }
}

export const GUIDE_LINK = /^([a-z-]+)\.md(#.*)?$/

type Rule = NonNullable<MarkdownRenderer['renderer']['rules'][string]>

function ruleOf(md: MarkdownRenderer, name: string): Rule {
  const rule = md.renderer.rules[name]
  if (!rule) throw new Error(`markdown-it has no rule "${name}"`)
  return rule
}
