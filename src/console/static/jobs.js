// Updates the list of jobs: the rows of unfinished jobs, and the number of new jobs.
import { pause, showLocalTimes } from './console.js'

const UNFINISHED_MS = 2_000
const IDLE_MS = 10_000
/** From this number on, more new jobs are not counted. */
const MANY = 100

const list = document.querySelector('[data-rows]')
if (list) follow(new URL(list.dataset.rows, location.href))

async function follow(address) {
  for (;;) {
    const ids = [...list.querySelectorAll('[data-unfinished]')].map(({ dataset }) => dataset.job)
    if (ids.length === 0 && !address.searchParams.has('first')) return
    await pause(ids.length > 0 ? UNFINISHED_MS : IDLE_MS)
    address.searchParams.set('ids', ids.join())
    const response = await fetch(address).catch(() => null)
    if (!response || response.status === 429 || response.status >= 500) continue
    if (!response.ok || response.redirected) return
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    showLocalTimes(page)
    showNewJobs(page.querySelector('[data-new-jobs]'), address)
    for (const next of page.querySelectorAll('[data-job]')) showRow(next)
  }
}

function showRow(next) {
  const current = list.querySelector(`[data-job="${next.dataset.job}"]`)?.closest('tr')
  const row = next.closest('tr')
  if (!current || current.innerHTML === row.innerHTML) return
  const hadFocus = current.contains(document.activeElement)
  current.replaceWith(row)
  if (hadFocus) row.querySelector('a').focus()
}

function showNewJobs(next, address) {
  const current = list.querySelector('[data-new-jobs]')
  if (current.dataset.newJobs === next.dataset.newJobs) return
  current.dataset.newJobs = next.dataset.newJobs
  // The element stays, so that screen readers announce its new content.
  current.replaceChildren(...next.childNodes)
  if (Number(next.dataset.newJobs) >= MANY) address.searchParams.delete('first')
}
