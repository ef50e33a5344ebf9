import type { ExportResult } from '../../accounts/export-organisation.ts'
import type { ConsoleContext } from '../context.ts'
import { guestPage } from './layout.tsx'

/**
 * Returns an export as a download, or a page with status 429.
 * @param name of the file, without date and extension
 */
export function exportResponse(c: ConsoleContext, exported: ExportResult, name: string) {
  if (exported.ok) {
    const date = new Date().toISOString().slice(0, 10)
    return c.body(exported.file, 200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}-${date}.json"`,
    })
  }
  return exportLimitReached(c, exported.waitSeconds)
}

export function exportLimitReached(c: ConsoleContext, waitSeconds: number) {
  c.header('Retry-After', String(waitSeconds))
  const minutes = Math.ceil(waitSeconds / 60)
  return guestPage(
    c,
    { title: 'Too many exports', status: 429 },
    <article>
      <h1>Too many exports</h1>
      <p>
        Wait {minutes} {minutes === 1 ? 'minute' : 'minutes'} and try again.
      </p>
      <a href="/console">Back to the console</a>
    </article>,
  )
}
