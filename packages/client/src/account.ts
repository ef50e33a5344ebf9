// client.workspaces and client.account: the organisation of the API key.
import type { CallOptions, Requester } from './request.ts'
import type { Account, Workspace } from './types.ts'

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
