/** The type of every Hono app in this Worker. */
export interface App {
  Bindings: Env
  Variables: {
    requestId: string
    /** Of the API key, once one was sent that could be good. */
    keyHash: string
  }
}
