// client.workspaces, client.account and client.usage: the organisation of the API key.
import { searchOf } from './pages.ts'
import type { CallOptions, Requester } from './request.ts'
import type { Account, Usage, Workspace } from './types.ts'

/** Lists workspaces: `client.workspaces`. */
export class Workspaces {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  /** Lists the active workspaces. */
  async list({ signal }: CallOptions = {}): Promise<Workspace[]> {
    const call = { method: 'GET', path: '/workspaces', signal } as const
    return (await this.#requester.send<{ workspaces: Workspace[] }>(call)).workspaces
  }
}

/** Reads the account: `client.account`. */
export class AccountReader {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  /** Reads the organisation: its plan, currency and credits. */
  get({ signal }: CallOptions = {}): Promise<Account> {
    return this.#requester.send<Account>({ method: 'GET', path: '/account', signal })
  }
}

/** The range of `usage.get`, in days (UTC) such as `2026-11-20`, and its groups. */
export interface UsageQuery {
  /** The first day, one of the latest 90. Default: 29 days before `to`. */
  from?: string | undefined
  /** The last day. Default: today. */
  to?: string | undefined
  /** `api_key` adds `api_keys`, the usage by API key. */
  groupBy?: 'api_key' | undefined
}

/** Reads the usage: `client.usage`. */
export class UsageReader {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  /** Reads the jobs and credits of each day, in the mode of the API key. At most a minute old. */
  get({ groupBy, ...range }: UsageQuery = {}, { signal }: CallOptions = {}): Promise<Usage> {
    const path = `/usage${searchOf({ ...range, group_by: groupBy })}`
    return this.#requester.send<Usage>({ method: 'GET', path, signal })
  }
}
