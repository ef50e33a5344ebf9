// Progressive enhancement of the console: copy buttons, local times, live updates of lists, jobs and
// payments while the page is visible, menus that close, and file size checks. Every page works without this script.

const POLL_MS = 1000
const formatOf = (options) => new Intl.DateTimeFormat(undefined, options)
const FORMATS = {
  minute: formatOf({ dateStyle: 'medium', timeStyle: 'short' }),
  second: formatOf({ dateStyle: 'medium', timeStyle: 'medium' }),
  day: formatOf({ dateStyle: 'medium' }),
  earlier: formatOf({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
  full: formatOf({ dateStyle: 'medium', timeStyle: 'full' }), // includes the time zone
}
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

/** Waits, then until the page is visible. */
async function pause(ms) {
  await new Promise((resolve) => setTimeout(resolve, ms))
  if (!document.hidden) return
  await new Promise((resolve) =>
    document.addEventListener('visibilitychange', resolve, { once: true }),
  )
}

// The listener is on the document, because live updates replace sections.
addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]')
  if (!button) return
  const isIcon = button.closest('.inline')
  const { copy } = button.dataset
  const show = (text) => {
    if (button.ariaLabel) announce(text)
    if (!isIcon) button.textContent = text
  }
  const source = button.closest('.copyable').querySelector('[data-copy-source], a')
  try {
    await navigator.clipboard.writeText(copy === 'true' ? source.textContent : copy)
    button.dataset.copied = ''
    show('Copied')
  } catch {
    getSelection().selectAllChildren(source)
    show('Press Ctrl+C')
  }
  setTimeout(() => {
    delete button.dataset.copied
    if (!isIcon) button.textContent = 'Copy'
  }, 3000)
})

for (const button of document.querySelectorAll('[data-show-password]')) {
  const input = document.getElementById(button.dataset.showPassword)
  button.hidden = false
  button.addEventListener('click', () => {
    const isShown = input.type === 'password'
    input.type = isShown ? 'text' : 'password'
    button.setAttribute('aria-pressed', String(isShown))
  })
  // Browsers store the values of text fields for suggestions.
  input.form?.addEventListener('submit', () => (input.type = 'password'))
}

for (const select of document.querySelectorAll('[data-submit-on-change]')) {
  const button = select.form.querySelector('button')
  // Keyboard users step through the options, so only a choice with the pointer submits the form.
  select.addEventListener('pointerdown', () => (select.dataset.byPointer = 'true'))
  select.addEventListener('change', () => {
    if (select.dataset.byPointer) select.form.requestSubmit(button)
  })
}

// Checks the size before a slow upload, whose error page could not restore the file fields.
for (const input of document.querySelectorAll('[data-max-bytes]')) {
  input.addEventListener('change', () => checkFileSize(input))
  input.form.addEventListener('submit', (event) => {
    if (checkFileSize(input)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    input.focus()
  })
}

// Prevents double submission.
for (const form of document.querySelectorAll(
  'form[method=post]:not([data-run], [data-download])',
)) {
  form.addEventListener('submit', ({ submitter }) => {
    if (!submitter) return
    submitter.ariaBusy = true
    // Deferred: the form data does not include a disabled button.
    setTimeout(() => (submitter.disabled = true))
  })
}
// Enables the buttons again when the back button restores the page.
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('button[aria-busy]')) setBusy(button, false)
})

for (const form of document.querySelectorAll('form[data-run]')) {
  form.addEventListener('submit', async (event) => {
    // The nonce of another run needs randomUUID, which requires HTTPS or localhost.
    if (!crypto.randomUUID) return
    event.preventDefault()
    const result = form.parentElement.querySelector('[data-run-result]')
    const button = form.querySelector('button')
    setBusy(button, true)
    try {
      const response = await fetch(form.action, { method: 'POST', body: new FormData(form) })
      if (!response.redirected) throw new Error('the job was rejected')
      form.elements.nonce.value = crypto.randomUUID()
      await poll(liveSection(result, new URL(response.url).pathname))
    } catch {
      result.textContent = 'The job could not be submitted. Try again in the playground.'
    }
    setBusy(button, false)
  })
}

// Escape closes the account menu and confirmations.
addEventListener('keydown', ({ key, target }) => {
  if (key !== 'Escape') return
  const details = target.closest('details[open]') ?? document.querySelector('details[open]')
  if (!details) return
  details.open = false
  details.querySelector('summary').focus()
})
addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('.menu[open]')) {
    if (!menu.contains(target)) menu.open = false
  }
})

for (const section of document.querySelectorAll('[data-live]')) poll(section)
showLocalTimes(document)
showCopyButtons(document)
// Back and Reload load the page of a rejected form instead of sending the form again.
if (performance.getEntriesByType('navigation')[0]?.responseStatus >= 400) {
  history.replaceState(null, '', location.href)
}

/** Shows that the form of a button is being sent. It cannot be sent again meanwhile. */
export function setBusy(button, isBusy) {
  button.disabled = isBusy
  button.ariaBusy = isBusy || null
}

/** An element with properties, such as its `textContent`. */
export const element = (name, properties) => Object.assign(document.createElement(name), properties)

/** Shows in `result` the section of a job, which `poll` reads. */
export function liveSection(result, jobPath) {
  const section = element('section')
  section.dataset.live = `${jobPath}/live`
  result.replaceChildren(section)
  return section
}

/** Replaces `section` with the current state of its job or payment until that is final. */
export async function poll(section) {
  let current = section
  while (current.dataset.live) {
    const response = await fetch(current.dataset.live).catch(() => null)
    if (response?.ok && !response.redirected) {
      const next = (await documentOf(response)).querySelector('section')
      showLocalTimes(next)
      showCopyButtons(next)
      for (const { id, open } of current.querySelectorAll('details[id]')) {
        next.querySelector(`#${CSS.escape(id)}`)?.toggleAttribute('open', open)
      }
      // An open confirmation stays open.
      const isOpen = current.querySelector('details[open]:not([id])')
      if (!isOpen && next.outerHTML !== current.outerHTML) {
        const { status } = next.dataset
        if (status !== current.dataset.status) announce(status)
        const focused = current.contains(document.activeElement) && document.activeElement
        current.replaceWith(next)
        if (focused) focusLike(next, focused)
        current = next
      }
    } else if (response && response.status !== 429) {
      return
    }
    // The server chooses a longer interval for what takes long.
    if (!current.dataset.live) return
    await pause(Number(current.dataset.liveSeconds ?? 1) * POLL_MS)
  }
}

/** The page, or the part of one, in a response. */
export const documentOf = async (response) =>
  new DOMParser().parseFromString(await response.text(), 'text/html')

/** Moves the focus to the link or button of a new section that is like the one that had it. */
function focusLike(section, { localName, href, ariaLabel, textContent }) {
  for (const element of section.querySelectorAll(localName)) {
    if (element.href !== href || element.ariaLabel !== ariaLabel) continue
    if (element.textContent === textContent) return element.focus()
  }
}

/** Shows or removes the error of a file field. Returns whether the file is small enough. */
function checkFileSize(input) {
  const maxBytes = Number(input.dataset.maxBytes)
  const size = input.files[0]?.size ?? 0
  const errorId = `${input.id}-error`
  document.getElementById(errorId)?.remove()
  input.removeAttribute('aria-invalid')
  const describedBy = (input.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .filter((id) => id !== errorId)
  if (size > maxBytes) {
    const textContent = `This file is ${megabytes(size)} MB. The maximum is ${megabytes(maxBytes)} MB.`
    input.after(element('small', { id: errorId, className: 'error', textContent }))
    input.setAttribute('aria-invalid', 'true')
    describedBy.unshift(errorId)
    announce(textContent)
  }
  input.setAttribute('aria-describedby', describedBy.join(' '))
  return size <= maxBytes
}

/** Rounds up, so that a file just above the limit is not shown with the size of the limit. */
function megabytes(bytes) {
  return Math.ceil((bytes / 1024 / 1024) * 10) / 10
}

/** Converts the UTC times below `root` to the browser's time zone and locale. */
function showLocalTimes(root) {
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    const { as } = time.dataset
    time.textContent = as === 'ago' ? agoText(at) : FORMATS[as].format(at)
    time.title = FORMATS.full.format(at)
  }
}

/** Such as "5 min. ago"; the date for what is older than a day. */
function agoText(at) {
  const minutes = Math.floor((Date.now() - at) / 60_000)
  if (minutes < 60) return AGO.format(-minutes, 'minute')
  if (minutes < 24 * 60) return AGO.format(-Math.floor(minutes / 60), 'hour')
  return FORMATS.earlier.format(at)
}

/** Shows the copy buttons below `root`, which do nothing without this script. */
function showCopyButtons(root) {
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = false
}

/** Announces a change to screen readers. */
export function announce(text) {
  document.querySelector('[data-announcer]').textContent = text
}
