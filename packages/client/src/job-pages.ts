// The result of client.jobs.list: an iterator over jobs that requests pages as needed.
import type { CallOptions, Requester } from './request.ts'
import type { JobList, JobStatus, ListedJob } from './types.ts'

/** The filters of `jobs.list`. */
export interface JobQuery {
  /** Only jobs of this workspace. */
  workspace_id?: string | undefined
  /** Only jobs with this status. */
  status?: JobStatus | undefined
  /** Only jobs created at this time or later. */
  created_after?: Date | string | undefined
  /** Only jobs created before this time. */
  created_before?: Date | string | undefined
  /** The size of a page, 1 to 100. Default: 20. It does not limit the iteration. */
  limit?: number | undefined
  /** The `next_cursor` of an earlier page with the same filters. Starts there. */
  cursor?: string | undefined
}

/** Jobs in pages, newest first: the result of `jobs.list`. */
export class JobPages implements AsyncIterable<ListedJob> {
  readonly #requester: Requester
  readonly #query: JobQuery
  readonly #options: CallOptions

  /** The client creates this object. */
  constructor(requester: Requester, query: JobQuery, options: CallOptions) {
    this.#requester = requester
    this.#query = query
    this.#options = options
  }

  /** Reads the first page, or the page at `cursor`. */
  page(): Promise<JobList> {
    return this.#page(this.#query.cursor)
  }

  /** Iterates over the jobs of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<ListedJob, void, undefined> {
    let { cursor } = this.#query
    do {
      const page = await this.#page(cursor)
      yield* page.jobs
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }

  async #page(cursor: string | undefined): Promise<JobList> {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...this.#query, cursor })) {
      if (value === undefined) continue
      search.set(name, value instanceof Date ? value.toISOString() : String(value))
    }
    const path = search.size > 0 ? `/jobs?${search}` : '/jobs'
    return this.#requester.send<JobList>({ method: 'GET', path, signal: this.#options.signal })
  }
}
