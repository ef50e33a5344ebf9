// The requests that write jobs, and the bookmarks of their writes, so that later reads of the organisation
// see them in a replica (docs/adr/0031-read-replicas.md). A request is announced when it is admitted, and
// the request log reports its bookmark about a second after its response.
import { ANY, later, PRIMARY } from '../db/sessions.ts'
import type { Freshness } from '../db/sessions.ts'

/** `submission` inserts a job. `change` cancels one or deletes its output. */
export type JobWrite = 'submission' | 'change'
/** What a request does with jobs: writes them, reads one, or lists them. */
export type JobAccess = JobWrite | 'read' | 'list'

/** An announced request that has finished. */
export interface WriteReport {
  kind: JobWrite
  /** null if it wrote nothing */
  bookmark: D1SessionBookmark | null
}

const STORAGE_KEY = 'recent-writes'
/** A request whose report is lost with its isolate counts for this time: a submission may wait for 30 s. */
const REPORT_WITHIN_MS = 45_000
/** How exact the stored times are. Storing each request would cost a row per submission. */
const STORED_WITHIN_MS = 5_000
/** No replica is that far behind. A restored database may never reach a bookmark of its past. */
const BOOKMARK_MS = 10 * 60_000

interface Stored {
  /** Until when a request may be unreported, ms since 1970. */
  pendingUntil: number
  bookmark: D1SessionBookmark | null
  /** When the bookmark was reported, ms since 1970. */
  reportedAt: number
}

interface Mark extends Stored {
  /** The requests that are not reported yet. */
  pending: number
  storedUntil: number
}

const storedPart = ({ pendingUntil, bookmark, reportedAt }: Mark): Stored => ({
  pendingUntil,
  bookmark,
  reportedAt,
})

export class RecentWrites {
  readonly #kv: SyncKvStorage
  #marks: Record<JobWrite, Mark> | undefined

  constructor(kv: SyncKvStorage) {
    this.#kv = kv
  }

  /** Announces a write, or returns what a read must see. */
  access(access: JobAccess): Freshness | undefined {
    if (access === 'read') return this.#freshnessAfter('change')
    if (access === 'list') {
      return later(this.#freshnessAfter('change'), this.#freshnessAfter('submission'))
    }
    this.#announce(access)
    return undefined
  }

  /** Records finished requests. Stores their bookmarks with one write. */
  report(reports: readonly WriteReport[]): void {
    for (const report of reports) this.#record(report)
    if (reports.some(({ bookmark }) => bookmark !== null)) this.#store()
  }

  #record({ kind, bookmark }: WriteReport): void {
    const mark = this.#open()[kind]
    mark.pending = Math.max(0, mark.pending - 1)
    if (!bookmark) return
    mark.bookmark = later(mark.bookmark ?? ANY, bookmark)
    mark.reportedAt = Date.now()
  }

  #announce(kind: JobWrite): void {
    const mark = this.#open()[kind]
    const now = Date.now()
    if (mark.pendingUntil <= now) mark.pending = 0
    mark.pending++
    mark.pendingUntil = now + REPORT_WITHIN_MS
    if (mark.pendingUntil - mark.storedUntil > STORED_WITHIN_MS) this.#store()
  }

  #freshnessAfter(kind: JobWrite): Freshness {
    const { pending, pendingUntil, bookmark, reportedAt } = this.#open()[kind]
    if (pending > 0 && Date.now() < pendingUntil) return PRIMARY
    return bookmark && Date.now() - reportedAt < BOOKMARK_MS ? bookmark : ANY
  }

  #open(): Record<JobWrite, Mark> {
    return (this.#marks ??= this.#load())
  }

  #load(): Record<JobWrite, Mark> {
    const stored = this.#kv.get<Partial<Record<JobWrite, Stored>>>(STORAGE_KEY)
    const load = (kind: JobWrite): Mark => {
      const { pendingUntil = 0, bookmark = null, reportedAt = 0 } = stored?.[kind] ?? {}
      // How many requests the evicted object had admitted is not known.
      const until = pendingUntil + STORED_WITHIN_MS
      return { pending: Infinity, pendingUntil: until, bookmark, reportedAt, storedUntil: 0 }
    }
    return { submission: load('submission'), change: load('change') }
  }

  #store(): void {
    const { submission, change } = this.#open()
    for (const mark of [submission, change]) mark.storedUntil = mark.pendingUntil
    this.#kv.put<Record<JobWrite, Stored>>(STORAGE_KEY, {
      submission: storedPart(submission),
      change: storedPart(change),
    })
  }
}
