import type { Context } from 'hono'
import type { App } from '../http/request-context.ts'
import type { Credentials } from '../credits/api-key.ts'

/** The type of the Hono apps of /v1. */
export interface ApiApp extends App {
  Variables: App['Variables'] & {
    /** Well-formed credentials. Only the Organisation knows whether they are valid. */
    caller: Credentials
    /** The id of the API key, once it was checked. */
    keyId?: string | undefined
    /** The job that the request created, for the request log. */
    jobId?: string
    /** The parsed body of a submission, for the request log. */
    submission?: unknown
  }
}

/** The parts of a request to /v1 that helpers use, independent of the variables of its route. */
export type ApiContext = Pick<
  Context<ApiApp>,
  'env' | 'req' | 'executionCtx' | 'get' | 'header'
> & {
  set(name: 'keyId', value: string | undefined): void
}
