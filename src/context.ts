/** The type of every Hono app in this Worker. */
export interface App {
  Bindings: Env
  Variables: {
    requestId: string
  }
}
