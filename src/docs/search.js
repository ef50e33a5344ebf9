// Search in all pages. The index is loaded and built when the field receives the focus.

const MAX_RESULTS = 8

/** Shows the search field, and results below it. */
export function startSearch(search) {
  const input = search.querySelector('input')
  const panel = search.querySelector('.results')
  const list = search.querySelector('ul')
  const status = search.querySelector('[role=status]')
  /** @type {Promise<import('minisearch').default> | undefined} */
  let index
  search.hidden = false

  input.addEventListener('focus', () => (index ??= loadIndex()))
  input.addEventListener('input', update)
  addEventListener('keydown', (event) => {
    const isShortcut = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey))
    if (!isShortcut || event.target.closest?.('input, textarea, select, [contenteditable]')) return
    event.preventDefault()
    input.focus()
  })
  search.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    if (event.key === 'Escape') {
      close()
      input.focus()
    } else if (event.key === 'Enter' && event.target === input) {
      links[0]?.click()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const next = at + (event.key === 'ArrowDown' ? 1 : -1)
      const target = next < 0 ? input : links[Math.min(next, links.length - 1)]
      target?.focus()
    } else return
    event.preventDefault()
  })
  // A result on the same page closes the panel too.
  list.addEventListener('click', close)
  document.addEventListener('click', (event) => {
    if (!search.contains(event.target)) close()
  })
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !search.contains(relatedTarget)) close()
  })

  function close() {
    panel.hidden = true
  }

  async function update() {
    const query = input.value.trim()
    if (query === '') return close()
    let results
    try {
      index ??= loadIndex()
      results = (await index).search(query).slice(0, MAX_RESULTS)
    } catch {
      index = undefined
      list.replaceChildren()
      status.textContent = 'The search index could not be loaded. Try again.'
      panel.hidden = false
      return
    }
    // The text changed while the index was loading.
    if (query !== input.value.trim()) return
    list.replaceChildren(...results.map(entryOf))
    const count = results.length === 1 ? '1 result' : `${results.length} results`
    status.textContent = results.length === 0 ? `No results for “${query}”` : count
    panel.hidden = false
  }
}

async function loadIndex() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import('./minisearch.js'),
    fetch('/docs/static/search.json'),
  ])
  if (!response.ok) throw new Error(`search.json: ${response.status}`)
  const index = new MiniSearch({
    idField: 'href',
    fields: ['heading', 'page', 'body'],
    storeFields: ['href', 'page', 'heading', 'body'],
    tokenize: tokensOf,
    searchOptions: {
      tokenize: wordsOf,
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 4 && !term.includes('_') ? 0.2 : false),
      boost: { heading: 4, page: 2 },
    },
  })
  index.addAll(await response.json())
  return index
}

/** Words, where a code such as person_not_found or an address path stays whole. */
const wordsOf = (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []

/** Words and the parts of codes, so that both `person_not_found` and `person not found` match. */
const tokensOf = (text) =>
  wordsOf(text).flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]))

function entryOf({ href, page, heading, body, terms }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = href
  const title = document.createElement('strong')
  title.textContent = heading
  const excerpt = document.createElement('span')
  excerpt.textContent = excerptOf(body, terms)
  const place = document.createElement('small')
  place.textContent = page === heading ? '' : page
  link.append(title, place, excerpt)
  item.append(link)
  return item
}

/** About 120 characters of the text around the first word that matches. */
function excerptOf(body, terms) {
  const lower = body.toLowerCase()
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0)
  const middle = Math.min(...found, lower.length)
  const start = found.length === 0 || middle < 60 ? 0 : lower.lastIndexOf(' ', middle - 40) + 1
  const isCut = start + 120 < body.length
  const end = isCut ? body.lastIndexOf(' ', start + 120) : body.length
  return `${start > 0 ? '… ' : ''}${body.slice(start, end)}${isCut ? ' …' : ''}`
}
