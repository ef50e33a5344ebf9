// The default theme of VitePress in the colours of the console, with the address of the service in
// examples, links to the Markdown of each page, and the viewer of the API reference.
import { onContentUpdated, useData, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme-without-fonts'
import { defineComponent, h } from 'vue'
import { EXAMPLE_ORIGIN } from '../../../src/domain/docs.ts'
import { markdownPath } from '../navigation.ts'
import { ApiReference } from './api-reference.ts'
import { NotFound } from './not-found.ts'
import './style.css'

const Layout = defineComponent(() => {
  onContentUpdated(showOwnAddress)
  return () =>
    h(DefaultTheme.Layout, null, {
      'doc-footer-before': () => h(Formats),
      'not-found': () => h(NotFound),
    })
})

/** The guides name an example host. The reader sees the host that serves the page. */
function showOwnAddress() {
  const content = document.querySelector('.vp-doc')
  if (!content) return
  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (node.nodeValue?.includes(EXAMPLE_ORIGIN))
      node.nodeValue = node.nodeValue.replaceAll(EXAMPLE_ORIGIN, location.origin)
  }
  for (const link of content.querySelectorAll<HTMLAnchorElement>(`a[href^="${EXAMPLE_ORIGIN}"]`))
    link.href = link.href.replace(EXAMPLE_ORIGIN, location.origin)
}

const Formats = defineComponent(() => {
  const { page } = useData()
  return () => {
    const links = [
      [markdownPath(page.value.relativePath), 'View as Markdown'],
      ['/openapi.json', 'openapi.json'],
      ['/openapi.yaml', 'openapi.yaml'],
      ['/llms.txt', 'llms.txt'],
    ]
    return h(
      'p',
      { class: 'formats' },
      links.map(([href, text]) => h('a', { href, target: '_self' }, text)),
    )
  }
})

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp: ({ app }) => {
    app.component('api-reference', ApiReference)
  },
} satisfies Theme
