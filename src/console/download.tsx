// Exports as a file to download.
import type { ExportResult } from '../accounts/export-organisation.ts'
import type { ConsoleContext } from './context.ts'
import { guestPage } from './components/layout.tsx'

/** @param name of the file, to which the date is added */
export function download(c: ConsoleContext, exported: ExportResult, name: string) {
  if (exported.ok) {
    const date = new Date().toISOString().slice(0, 10)
    return c.body(exported.file, 200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}-${date}.json"`,
    })
  }
  c.header('Retry-After', String(exported.waitSeconds))
  return guestPage(
    c,
    { title: 'Too many exports', status: 429 },
    <article>
      <h1>Too many exports</h1>
      <p>Please wait {Math.ceil(exported.waitSeconds / 60)} minutes and try again.</p>
      <a href="/console">To the console</a>
    </article>,
  )
}
