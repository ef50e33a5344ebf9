// Progressive enhancement of the documentation: theme switch, copy buttons, the address of this
// service in examples, keyboard access to wide tables. Every page is readable without this script.
import { startSearch } from './search.js'

const search = document.querySelector('[data-search]')
if (search) startSearch(search)
showOwnAddress()
startThemeSwitch(document.querySelector('[data-theme-switch]'))
for (const bar of document.querySelectorAll('.code-bar')) addCopyButton(bar)
watchScrollers()
markCurrentSection()

/** The guides name an example host. The reader sees the host that serves the page. */
function showOwnAddress() {
  const example = 'https://try-on.example'
  const content = document.querySelector('#content')
  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode } = texts
    if (currentNode.data.includes(example))
      currentNode.data = currentNode.data.replaceAll(example, location.origin)
  }
  for (const link of content.querySelectorAll(`a[href^="${example}"]`))
    link.href = link.getAttribute('href').replace(example, location.origin)
}

function startThemeSwitch(button) {
  const root = document.documentElement
  const system = matchMedia('(prefers-color-scheme: dark)')
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches)
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark'
    button.ariaLabel = isDark() ? 'Use the light theme' : 'Use the dark theme'
    dispatchEvent(new Event('themechange'))
  }
  button.addEventListener('click', () => {
    const chosen = isDark() ? 'light' : 'dark'
    // The theme of the system needs no entry: the page follows the system again.
    const isSystem = (chosen === 'dark') === system.matches
    if (isSystem) delete root.dataset.theme
    else root.dataset.theme = chosen
    try {
      if (isSystem) localStorage.removeItem('docs-theme')
      else localStorage.setItem('docs-theme', chosen)
    } catch {
      // Storage is disabled: the choice lasts until the next page.
    }
    show()
  })
  system.addEventListener('change', show)
  show()
  button.hidden = false
}

function addCopyButton(bar) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    const code = bar.parentElement.querySelector('code')
    try {
      await navigator.clipboard.writeText(commandsOf(code))
      button.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(code)
      button.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  })
  bar.append(button)
}

/** The text to copy: of a terminal session, only the commands. */
function commandsOf(code) {
  const lines = code.textContent.split('\n')
  const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
  return commands.length > 0 ? commands.join('\n') : code.textContent
}

/** Only elements that scroll are in the tab order. */
function watchScrollers() {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0
      else target.removeAttribute('tabindex')
    }
  })
  for (const scroller of document.querySelectorAll('.code pre, .table')) observer.observe(scroller)
}

/** Marks the section that is on the screen in the list 'On this page'. */
function markCurrentSection() {
  const links = new Map(
    [...document.querySelectorAll('.toc a')].map((link) => [link.hash.slice(1), link]),
  )
  const headings = [...document.querySelectorAll('main :is(h2, h3)[id]')]
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120)
    for (const link of links.values()) link.removeAttribute('aria-current')
    links.get(passed.at(-1)?.id)?.setAttribute('aria-current', 'true')
  }
  if (links.size === 0) return
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true })
  mark()
}
