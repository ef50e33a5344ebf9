import type { Context } from 'hono'

/** The type of the Hono apps of this Worker. */
export interface App {
  Bindings: Env
  Variables: { requestId: string }
}

/** What helpers read of a request, whichever variables its app has. */
export type RequestContext = Pick<Context<App>, 'env' | 'req' | 'executionCtx'>
