// Progressive enhancement of the playground: previews, uploads as soon as a file is chosen, drag and
// drop, paste, the result on the same page, and code with the chosen pictures.

import { announce, documentOf, element, liveSection, poll, setBusy } from './console.js'

const result = document.querySelector('[data-run-result]')
const code = document.querySelector('[data-code-for]')
/** The uploads that are running. */
const uploads = new Set()
let pictures = []

start(document.querySelector('[data-playground]'))
code.addEventListener('toggle', updateCode)

// A file that is dropped beside a picture would replace the page.
for (const type of ['dragover', 'drop']) addEventListener(type, (event) => event.preventDefault())

addEventListener('paste', (event) => {
  const file = [...event.clipboardData.files].find(({ type }) => type.startsWith('image/'))
  if (!file) return
  event.preventDefault()
  const focused = pictures.find(({ card }) => card.contains(document.activeElement))
  const picture = focused ?? pictures.find((one) => !one.isOwn()) ?? pictures[0]
  picture.take(file)
})

function start(form) {
  pictures = [...form.querySelectorAll('[data-picture]')].map((card) => pictureOf(card, form))
  for (const field of form.querySelectorAll('[data-file]')) field.hidden = false
  form.addEventListener('change', updateCode)
  form.addEventListener('submit', (event) => {
    // randomUUID requires HTTPS or localhost.
    if (!crypto.randomUUID) return
    event.preventDefault()
    submit(form, event.submitter ?? form.querySelector('button'))
  })
}

/** One of the two pictures: its fields, and the ways to choose it. */
function pictureOf(card, form) {
  const role = card.dataset.picture
  const url = card.querySelector('[type=url]')
  const file = card.querySelector('[type=file]')
  const upload = form.elements[`${role}_upload`]
  const uploadName = form.elements[`${role}_upload_name`]
  const frame = card.querySelector('[data-frame]')
  const status = card.querySelector('[data-upload-status]')
  const samples = [...card.querySelectorAll('[data-sample]')]
  /** Identifies the latest choice: an earlier upload that ends later is ignored. */
  let choice = 0

  function choose({ address = '', stored = '', name = '', preview }) {
    choice += 1
    url.value = address
    upload.value = stored
    uploadName.value = name
    say(name)
    for (const field of card.querySelectorAll('[aria-invalid]'))
      field.removeAttribute('aria-invalid')
    for (const error of card.querySelectorAll('.error')) error.remove()
    for (const sample of samples) {
      sample.ariaCurrent = sample.dataset.sample === address || null
    }
    if (preview !== undefined) show(preview)
    updateCode()
  }

  function say(text, isBad = false) {
    status.textContent = text
    status.classList.toggle('bad', isBad)
  }

  function show(source) {
    if (!source) {
      frame.replaceChildren(element('span', { textContent: 'No picture chosen' }))
      return
    }
    const alt = `${card.querySelector('legend').textContent}, chosen picture`
    const image = element('img', { alt, referrerPolicy: 'no-referrer' })
    image.addEventListener('error', () =>
      image.replaceWith(element('span', { textContent: 'No preview' })),
    )
    image.src = source
    frame.replaceChildren(image)
  }

  function take(chosen) {
    const task = receive(chosen).finally(() => uploads.delete(task))
    uploads.add(task)
  }

  async function receive(chosen) {
    if (chosen.size > Number(file.dataset.maxBytes)) {
      // console.js shows the error of a file field.
      if (!card.querySelector('.error'))
        say('The file is larger than 10 MB. Choose a smaller one.', true)
      return
    }
    choose({ name: chosen.name })
    say(`Uploading ${chosen.name} …`)
    const current = choice
    const reader = new FileReader()
    reader.addEventListener('load', () => current === choice && show(reader.result))
    reader.readAsDataURL(chosen)
    const { url: stored, error } = await send(chosen)
    if (current !== choice) return
    file.value = ''
    if (stored) choose({ stored, name: chosen.name })
    else {
      choose({ preview: '' })
      say(error, true)
    }
  }

  async function send(chosen) {
    try {
      const response = await fetch(`${form.action}/uploads`, {
        method: 'POST',
        body: chosen,
        headers: { Accept: 'application/json' },
      })
      return await response.json()
    } catch {
      return { error: 'The upload failed. Choose the file again.' }
    }
  }

  file.addEventListener('change', () => file.files[0] && take(file.files[0]))
  url.addEventListener('change', () => {
    file.value = ''
    choose({ address: url.value.trim(), preview: url.value.trim() })
  })
  for (const sample of samples) {
    sample.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey) return
      event.preventDefault()
      file.value = ''
      const address = sample.dataset.sample
      choose({ address, preview: new URL(address).pathname })
    })
  }
  card.addEventListener('dragover', () => card.classList.add('over'))
  card.addEventListener('dragleave', () => card.classList.remove('over'))
  card.addEventListener('drop', ({ dataTransfer }) => {
    card.classList.remove('over')
    const [dropped] = dataTransfer.files
    const address = dataTransfer.getData('text/uri-list').split('\n')[0].trim()
    if (dropped) take(dropped)
    else if (address) choose({ address, preview: address })
  })

  const isSample = () => samples.some(({ dataset }) => dataset.sample === url.value)
  return { card, take, isOwn: () => upload.value !== '' || (url.value !== '' && !isSample()) }
}

/** Sends the form and shows the job, or the form with its errors. */
async function submit(form, button) {
  setBusy(button, true)
  try {
    await Promise.allSettled(uploads)
    const response = await fetch(form.action, { method: 'POST', body: new FormData(form) })
    const { pathname } = new URL(response.url)
    if (!response.redirected) await showRejection(form, response)
    else if (pathname.includes('/jobs/')) {
      form.elements.nonce.value = crypto.randomUUID()
      await follow(pathname)
    } else location.assign(response.url)
  } catch {
    announceError(form, 'The job could not be submitted. Check your connection and try again.')
  }
  setBusy(button, false)
}

async function follow(jobPath) {
  const section = liveSection(result, jobPath)
  section.ariaBusy = true
  const link = document.querySelector('[data-job-link]')
  link.hidden = false
  link.querySelector('a').href = jobPath
  if (result.getBoundingClientRect().top > innerHeight) result.scrollIntoView({ block: 'center' })
  await endOf(section)
  const page = await documentOf(await fetch(location.pathname))
  const history = page.querySelector('[data-history]')
  if (history) document.querySelector('[data-history]').replaceWith(history)
}

/** Follows a job. Resolves when it has ended, although its webhook may be followed for longer. */
function endOf(section) {
  const { promise, resolve } = Promise.withResolvers()
  const observer = new MutationObserver(() => {
    const { status = '' } = result.querySelector('[data-status]')?.dataset ?? {}
    if (/completed|failed|cancelled|refunded/.test(status)) resolve()
  })
  observer.observe(result, { childList: true })
  poll(section).then(resolve)
  return promise.finally(() => observer.disconnect())
}

/** Replaces the form by that of the response, which has the errors and the references of uploads. */
async function showRejection(form, response) {
  const page = await documentOf(response)
  const next = page.querySelector('[data-playground]')
  if (!next) {
    const reason = page.querySelector('main p')?.textContent ?? ''
    announceError(form, `The job could not be submitted. ${reason}`)
    return
  }
  form.replaceWith(next)
  start(next)
  const errors = [...next.querySelectorAll('.error, .notice.bad')]
  announce(errors.map(({ textContent }) => textContent).join(' '))
  next.querySelector('[aria-invalid]')?.focus()
}

function announceError(form, text) {
  form.querySelector(':scope > .notice')?.remove()
  form.prepend(element('p', { className: 'notice bad', textContent: text }))
  announce(text)
}

async function updateCode() {
  if (!code.open) return
  const form = document.querySelector('[data-playground]')
  const body = new FormData(form)
  const response = await fetch(code.dataset.codeFor, { method: 'POST', body }).catch(() => null)
  if (!response?.ok) return
  const texts = (await documentOf(response)).querySelectorAll('[data-copy-source]')
  for (const [index, part] of code.querySelectorAll('[data-copy-source]').entries())
    part.textContent = texts[index]?.textContent ?? ''
}
