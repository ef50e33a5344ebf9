import type { Context } from 'hono'

/** The type of the Hono apps of this Worker. */
export interface App {
  Bindings: Env
  Variables: { requestId: string }
}

/** The parts of a request that helpers use, independent of the variables of its app. */
export type RequestContext = Pick<Context<App>, 'env' | 'req' | 'executionCtx'>
