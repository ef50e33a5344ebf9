import { drizzle } from 'drizzle-orm/d1'

/** A drizzle client for this Worker's D1. Cheap to make: it holds no connection. */
export const database = (env: Env) => drizzle(env.DB)

export type Database = ReturnType<typeof database>
