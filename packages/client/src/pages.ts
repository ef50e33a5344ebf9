// The results of lists: iterators that request pages as needed.
import type { CallOptions, Requester } from './request.ts'
import type { DeliveryStatus, JobList, JobStatus, ListedJob } from './types.ts'

/** The page of a list that every list accepts. */
export interface PageQuery {
  /** The size of a page, 1 to 100. Default: 20. It does not limit the iteration. */
  limit?: number | undefined
  /** The `next_cursor` of an earlier page with the same filters. Starts there. */
  cursor?: string | undefined
}

/** The filters of `jobs.list`. */
export interface JobQuery extends PageQuery {
  /** Only jobs of this workspace. */
  workspace_id?: string | undefined
  /** Only jobs with this status. */
  status?: JobStatus | undefined
  /** Only jobs created at this time or later. */
  created_after?: Date | string | undefined
  /** Only jobs created before this time. */
  created_before?: Date | string | undefined
}

/** The filters of `webhookDeliveries.list`. */
export interface DeliveryQuery extends PageQuery {
  /** Only deliveries of the events of this job. */
  job_id?: string | undefined
  /** Only deliveries to this endpoint. `default`: to the default URL and the URLs of jobs. */
  endpoint_id?: string | undefined
  /** Only deliveries with this status. */
  status?: DeliveryStatus | undefined
}

/** Items in pages, newest first. */
export class Pages<
  Item,
  Page extends { next_cursor: string | null },
> implements AsyncIterable<Item> {
  readonly #list: { requester: Requester; path: string; items: (page: Page) => Item[] }
  readonly #query: PageQuery
  readonly #options: CallOptions

  /** The client creates this object. */
  constructor(
    list: { requester: Requester; path: string; items: (page: Page) => Item[] },
    query: PageQuery,
    options: CallOptions,
  ) {
    this.#list = list
    this.#query = query
    this.#options = options
  }

  /** Reads the first page, or the page at `cursor`. */
  page(): Promise<Page> {
    return this.#page(this.#query.cursor)
  }

  /** Iterates over the items of all pages. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let { cursor } = this.#query
    do {
      const page = await this.#page(cursor)
      yield* this.#list.items(page)
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }

  async #page(cursor: string | undefined): Promise<Page> {
    const { requester, path } = this.#list
    const search = searchOf({ ...this.#query, cursor })
    return requester.send<Page>({ method: 'GET', path: path + search, ...this.#options })
  }
}

/** Jobs in pages, newest first: the result of `jobs.list`. */
export type JobPages = Pages<ListedJob, JobList>

/** The query string of the values that are set. */
export function searchOf(values: object): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(values) as [string, unknown][]) {
    if (value === undefined) continue
    search.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  return search.size > 0 ? `?${search}` : ''
}
