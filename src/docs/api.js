// Starts the viewer of the API reference in the site's colours, without fonts, proxy, telemetry or
// assistant of its vendor: the page sends requests to this service only.
import { createApiReference } from './scalar/standalone.esm.js'

const theme = () => document.documentElement.dataset.theme
const isDark = () =>
  theme() ? theme() === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches

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
  forceDarkModeState: isDark() ? 'dark' : 'light',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})

// The viewer reads forceDarkModeState only once. Its colours depend on these classes.
addEventListener('themechange', () => {
  document.body.classList.toggle('dark-mode', isDark())
  document.body.classList.toggle('light-mode', !isDark())
})
