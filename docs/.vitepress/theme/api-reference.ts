// The viewer of the API reference in the site's colours, without fonts, proxy, telemetry or assistant of
// its vendor: the page sends requests to this service only.
import { Content, useData } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'
import './api.css'

const VIEWER = '/docs/static/scalar/standalone.esm.js'

export const ApiReference = defineComponent(() => {
  const { frontmatter, isDark } = useData()
  const isReady = ref(false)

  onMounted(async () => {
    // On phones, the viewer has a header, and a page has only one.
    document.querySelector('.VPNav')?.setAttribute('role', 'presentation')
    const bar = document.querySelector('.VPNavBar')
    bar?.setAttribute('role', 'navigation')
    bar?.setAttribute('aria-label', 'Site')
    const { createApiReference } = await import(/* @vite-ignore */ VIEWER)
    isReady.value = true
    createApiReference('#api-reference-viewer', {
      url: '/openapi.json',
      theme: 'none',
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      agent: { disabled: true },
      mcp: { disabled: true },
      showDeveloperTools: 'never',
      hideClientButton: true,
      hideDarkModeToggle: true,
      documentDownloadType: 'none',
      forceDarkModeState: isDark.value ? 'dark' : 'light',
      defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    })
  })
  // The viewer reads forceDarkModeState only once. Its colours depend on these classes.
  watch(isDark, (dark) => {
    document.body.classList.toggle('dark-mode', dark)
    document.body.classList.toggle('light-mode', !dark)
  })

  return () => [
    // The class leaves the links of the document, such as those to the console, to the browser.
    h('div', { id: 'api-reference-viewer', class: 'vp-raw' }),
    // Until the viewer is there, and without JavaScript.
    isReady.value
      ? null
      : h('main', { class: 'vp-doc without-viewer' }, [
          h('h1', frontmatter.value.title),
          h(Content),
        ]),
  ]
})
