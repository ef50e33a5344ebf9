// What helps where JavaScript runs: copying, times in the reader's zone, following a job, closing what
// was opened, refusing files that are too large. Every page works without it.

const POLL_MS = 1000

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = button.closest('.copyable').querySelector('[data-copy-source]')
    try {
      await navigator.clipboard.writeText(source.textContent)
      button.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(source)
      button.textContent = 'Press Ctrl+C'
    }
    setTimeout(() => (button.textContent = 'Copy'), 3000)
  })
}

for (const select of document.querySelectorAll('[data-submit-on-change]')) {
  const button = select.form.querySelector('button')
  // A keyboard user walks through the options one by one; only a pointer's choice is final at once.
  select.addEventListener('pointerdown', () => (select.dataset.byPointer = 'true'))
  select.addEventListener('change', () => {
    if (select.dataset.byPointer) select.form.requestSubmit(button)
  })
}

// A file that is too large is refused here: sending it takes long, and the form would come back empty.
for (const input of document.querySelectorAll('[data-max-bytes]')) {
  input.addEventListener('change', () => isSmallEnough(input))
  input.form.addEventListener('submit', (event) => {
    if (isSmallEnough(input)) return
    event.preventDefault()
    event.stopImmediatePropagation()
    input.focus()
  })
}

// Nothing is sent twice by an impatient click.
for (const form of document.querySelectorAll(
  'form[method=post]:not([data-run], [data-download])',
)) {
  form.addEventListener('submit', ({ submitter }) => {
    if (!submitter) return
    submitter.setAttribute('aria-busy', 'true')
    // Not before the form was read: a disabled button would be missing from it.
    setTimeout(() => (submitter.disabled = true))
  })
}
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('button[aria-busy]')) {
    button.removeAttribute('aria-busy')
    button.disabled = false
  }
})

for (const form of document.querySelectorAll('form[data-run]')) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    const result = form.parentElement.querySelector('[data-run-result]')
    const button = form.querySelector('button')
    button.disabled = true
    button.setAttribute('aria-busy', 'true')
    try {
      const answer = await fetch(form.action, { method: 'POST', body: new FormData(form) })
      if (!answer.redirected) throw new Error('not accepted')
      const section = document.createElement('section')
      section.dataset.live = `${new URL(answer.url).pathname}/live`
      result.replaceChildren(section)
      await follow(section)
    } catch {
      result.textContent = 'That did not work. Try again from the playground.'
      button.disabled = false
    }
    button.removeAttribute('aria-busy')
  })
}

// What was unfolded folds up again: the account menu and the questions that ask before an action.
addEventListener('keydown', ({ key, target }) => {
  if (key !== 'Escape') return
  const unfolded = target.closest('details[open]') ?? document.querySelector('details[open]')
  if (!unfolded) return
  unfolded.open = false
  unfolded.querySelector('summary').focus()
})
addEventListener('click', ({ target }) => {
  const menu = document.querySelector('.person[open]')
  if (menu && !menu.contains(target)) menu.open = false
})

for (const section of document.querySelectorAll('[data-live]')) follow(section)
if (document.querySelector('[data-reload]')) setTimeout(() => location.reload(), POLL_MS)
localise(document)
document
  .querySelector('.member > nav [aria-current]')
  ?.scrollIntoView({ block: 'nearest', inline: 'center' })

/** Puts a job's latest state in place of `section` until it is over. */
async function follow(section) {
  let current = section
  while (current.dataset.live) {
    const answer = await fetch(current.dataset.live).catch(() => null)
    if (answer?.ok && !answer.redirected) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const next = page.querySelector('section')
      localise(next)
      if (next.innerHTML !== current.innerHTML || next.dataset.live !== current.dataset.live) {
        const status = next.querySelector('.badge')?.textContent
        if (status !== current.querySelector('.badge')?.textContent) announce(`Job ${status}`)
        current.replaceWith(next)
        current = next
      }
    } else if (answer && answer.status !== 429) {
      return
    }
    if (current.dataset.live) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Says beside the field if its file is too large. */
function isSmallEnough(input) {
  const maxBytes = Number(input.dataset.maxBytes)
  const size = input.files[0]?.size ?? 0
  const errorId = `${input.id}-error`
  document.getElementById(errorId)?.remove()
  input.removeAttribute('aria-invalid')
  const described = (input.getAttribute('aria-describedby') ?? '').split(' ')
  const others = described.filter((id) => id !== errorId)
  if (size > maxBytes) {
    const error = document.createElement('small')
    error.id = errorId
    error.className = 'error'
    error.textContent = `This file has ${megabytes(size)} MB. Choose one of at most ${megabytes(maxBytes)} MB.`
    input.after(error)
    input.setAttribute('aria-invalid', 'true')
    others.unshift(errorId)
    announce(error.textContent)
  }
  input.setAttribute('aria-describedby', others.join(' '))
  return size <= maxBytes
}

// Upwards, so that what is a little too large does not seem to be just right.
function megabytes(bytes) {
  return Math.ceil((bytes / 1024 / 1024) * 10) / 10
}

function localise(root) {
  const [short, precise, full] = ['short', 'long', 'full'].map(
    (timeStyle) => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle }),
  )
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime)
    time.textContent = ('precise' in time.dataset ? precise : short).format(at)
    time.title = full.format(at) // names the zone
  }
}

function announce(text) {
  document.querySelector('[data-announcer]').textContent = text
}
