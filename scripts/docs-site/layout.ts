// The HTML of every page of the documentation site: header, navigation, content and footer.
import { html, raw } from 'hono/html'
import type { Guide } from './guides.ts'
import { breakable } from './markdown.ts'
import type { Heading, RenderedGuide } from './markdown.ts'
import { API_SLUG, pathOf, SECTIONS } from './navigation.ts'

interface Page {
  /** Undefined for a page that is not in the navigation. */
  slug?: string
  title: string
  description: string
  /** `html` has the layout's own styles and scripts around it. */
  content: Html
  bodyClass?: string
  head?: Html
  hasMarkdown?: boolean
}

type Html = ReturnType<typeof html>
type PageTitles = ReadonlyMap<string, string>

/** The titles of all pages by slug, in the order of the navigation. */
export const titlesOf = (guides: Guide[]): PageTitles => {
  const titles = new Map(guides.map(({ slug, title }) => [slug, title]))
  titles.set('index', 'Overview').set(API_SLUG, 'API reference')
  const slugs = SECTIONS.flatMap((section) => section.slugs)
  return new Map(slugs.map((slug) => [slug, titles.get(slug) ?? slug]))
}

export function guidePage(guide: RenderedGuide, titles: PageTitles): Promise<string> {
  const { slug, section, title, description } = guide
  return page(titles, {
    slug,
    title: slug === 'index' ? title : `${title} · Try-On documentation`,
    description,
    hasMarkdown: true,
    bodyClass: 'guide',
    content: html`
      <main id="content" tabindex="-1">
        <article>
          <p class="eyebrow">${section}</p>
          <h1>${title}</h1>
          <p class="lead">${description}</p>
          ${raw(guide.html)}
        </article>
        ${neighbours(slug, titles)}
      </main>
      ${onThisPage(guide.headings)}
    `,
  })
}

/** Serves as a frame: the viewer renders the operations when its script has loaded. */
export function apiPage(titles: PageTitles): Promise<string> {
  return page(titles, {
    slug: API_SLUG,
    title: 'API reference · Try-On documentation',
    description: 'Every operation of the API, with examples and a form to try it.',
    bodyClass: 'api',
    head: html`<link rel="stylesheet" href="/docs/static/api.css" />
      <script type="module" src="/docs/static/api.js"></script>`,
    // The viewer has its own main element.
    content: html`
      <div id="content" tabindex="-1">
        <div id="api-reference-viewer"></div>
        <noscript>
          <main>
            <h1>API reference</h1>
            <p>
              The viewer needs JavaScript. The document it shows is at
              <a href="/openapi.json">/openapi.json</a> and
              <a href="/openapi.yaml">/openapi.yaml</a>.
            </p>
          </main>
        </noscript>
      </div>
    `,
  })
}

export function notFoundPage(titles: PageTitles): Promise<string> {
  return page(titles, {
    title: 'Page not found · Try-On documentation',
    description: 'There is no page at this address.',
    bodyClass: 'guide',
    head: html`<meta name="robots" content="noindex" />`,
    content: html`
      <main id="content" tabindex="-1">
        <article>
          <p class="eyebrow">404</p>
          <h1>Page not found</h1>
          <p class="lead">There is no page of the documentation at this address.</p>
          <p>Search at the top of the page, or go to one of these pages:</p>
          <ul>
            ${['index', 'quick-start', 'errors', 'webhooks', API_SLUG].map(
              (slug) => html`<li><a href="${pathOf(slug)}">${titles.get(slug)}</a></li>`,
            )}
          </ul>
        </article>
      </main>
    `,
  })
}

async function page(titles: PageTitles, options: Page): Promise<string> {
  const { slug, title, description, content, bodyClass = '', head = '' } = options
  const document = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <meta name="description" content="${description}" />
        <link rel="icon" href="/static/icon.svg" type="image/svg+xml" />
        <script src="/docs/static/theme.js"></script>
        ${['docs', 'header', 'content', 'blocks', 'code'].map(
          (name) => html`<link rel="stylesheet" href="/docs/static/${name}.css" />`,
        )}
        ${
          options.hasMarkdown && slug
            ? html`<link rel="alternate" type="text/markdown" href="${markdownPath(slug)}" />`
            : ''
        }
        ${head}
        <script type="module" src="/docs/static/docs.js"></script>
      </head>
      <body class="${bodyClass}">
        <a class="skip" href="#content">Skip to content</a>
        ${header(slug)}
        <div class="columns">${sidebar(slug, titles)} ${content}</div>
        ${footer(options.hasMarkdown ? slug : undefined)}
      </body>
    </html> `
  return String(document)
}

/** The viewer of the API reference has its own search. */
const SEARCH = html`
  <search class="search" data-search hidden>
    <input
      type="search"
      placeholder="Search"
      aria-label="Search the documentation"
      autocomplete="off"
      spellcheck="false"
    />
    <div class="results" hidden>
      <p role="status"></p>
      <ul></ul>
    </div>
  </search>
`

/** Search and theme need JavaScript, so docs.js shows them. */
function header(slug: string | undefined): Html {
  const start = html`
    <button type="button" class="menu-button" popovertarget="navigation">Menu</button>
    <a class="brand" href="/docs">
      <img src="/static/icon.svg" alt="" width="28" height="28" /> Try-On <span>Docs</span>
    </a>
  `
  const links = html`
    <a href="/docs/api" ${slug === API_SLUG ? raw('aria-current="page"') : ''}>API reference</a>
    <a href="/console">Console</a>
  `
  const theme = html`<button type="button" class="theme" data-theme-switch hidden></button>`
  // On phones, the viewer of the API reference has a header, and a page has only one.
  if (slug === API_SLUG)
    return html`<nav class="site-header" aria-label="Site">
      ${start}
      <div class="site-links">${links}</div>
      ${theme}
    </nav>`
  return html`<header class="site-header">
    ${start} ${SEARCH}
    <nav class="site-links" aria-label="Site">${links}</nav>
    ${theme}
  </header>`
}

const sidebar = (current: string | undefined, titles: PageTitles) => html`
  <nav id="navigation" class="sidebar" aria-label="Documentation" popover>
    ${SECTIONS.map(
      ({ title, slugs }, index) => html`
        <h2 id="section-${index}">${title}</h2>
        <ul aria-labelledby="section-${index}">
          ${slugs.map(
            (slug) =>
              html`<li>
                <a href="${pathOf(slug)}" ${slug === current ? raw('aria-current="page"') : ''}
                  >${titles.get(slug)}</a
                >
              </li>`,
          )}
        </ul>
      `,
    )}
    <ul class="only-narrow">
      <li><a href="/console">Console</a></li>
    </ul>
  </nav>
`

function onThisPage(headings: Heading[]): Html {
  const entries = headings.filter(({ level }) => level === 2 || level === 3)
  if (entries.length < 2) return html`<div class="toc"></div>`
  return html`
    <nav class="toc" aria-labelledby="toc-title">
      <h2 id="toc-title">On this page</h2>
      <ul>
        ${entries.map(
          ({ id, level, text }) =>
            html`<li class="level-${level}"><a href="#${id}">${raw(breakable(text))}</a></li>`,
        )}
      </ul>
    </nav>
  `
}

function neighbours(slug: string, titles: PageTitles): Html {
  const slugs = [...titles.keys()]
  const at = slugs.indexOf(slug)
  const link = (to: string | undefined, label: string, className: string) =>
    to === undefined
      ? ''
      : html`<a class="${className}" href="${pathOf(to)}"
          ><span>${label}</span> ${titles.get(to)}</a
        >`
  return html`
    <nav class="neighbours" aria-label="Previous and next page">
      ${link(slugs[at - 1], 'Previous', 'previous')} ${link(slugs[at + 1], 'Next', 'next')}
    </nav>
  `
}

const markdownPath = (slug: string) => `/docs/${slug}.md`

const footer = (slug: string | undefined) => html`
  <footer class="site-footer">
    <ul>
      ${slug ? html`<li><a href="${markdownPath(slug)}">View as Markdown</a></li>` : ''}
      <li><a href="/openapi.json">openapi.json</a></li>
      <li><a href="/openapi.yaml">openapi.yaml</a></li>
      <li><a href="/llms.txt">llms.txt</a></li>
      <li><a href="/console">Console</a></li>
    </ul>
  </footer>
`
