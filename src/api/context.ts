import type { Context } from 'hono'
import type { App } from '../http/context.ts'
import type { Credentials } from '../organisation/api-key.ts'

/** The type of the Hono apps of /v1. */
export interface ApiApp extends App {
  Variables: App['Variables'] & {
    /** Well-formed credentials. Only the Organisation knows whether they are valid. */
    caller: Credentials
  }
}

/** What helpers use of a request to /v1, whichever further variables its route has. */
export type ApiContext = Pick<Context<ApiApp>, 'env' | 'req' | 'executionCtx' | 'get' | 'header'>
