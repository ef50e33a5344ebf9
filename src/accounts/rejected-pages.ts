// Stores the page of a rejected form until the browser shows it, for a minute. Pages contain what a
// person typed, so each is encrypted with a key that only the browser has.
import { and, eq, gt, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { rejectedPages } from '../db/auth-schema.ts'
import { database } from '../db/client.ts'
import { sha256 } from '../signing/sha256.ts'

/** How long a page is stored. The browser loads it at once. */
export const REJECTED_PAGE_SECONDS = 60
/** The maximum size of a stored page, compressed. */
const MAX_BYTES = 64 * 1024
/** The maximum number of pages at a time, because guests can also send forms. */
const MAX_PAGES = 2_000

const RejectedPage = z.object({ status: z.int(), html: z.string() })
type RejectedPage = z.infer<typeof RejectedPage>

/** The statement that deletes pages that were never shown. */
export const deleteExpiredRejectedPages = (env: Env) =>
  database(env).delete(rejectedPages).where(lt(rejectedPages.endsAt, new Date()))

/**
 * @param path the only address that shows the page
 * @returns the token for the browser; null if the page is too large or too many pages are stored
 */
export async function storeRejectedPage({
  env,
  path,
  page,
}: {
  env: Env
  path: string
  page: RejectedPage
}): Promise<string | null> {
  const token = crypto.getRandomValues(new Uint8Array(32)).toBase64({
    alphabet: 'base64url',
    omitPadding: true,
  })
  const bytes = await transform(encoder.encode(JSON.stringify(page)), new CompressionStream('gzip'))
  if (bytes.length > MAX_BYTES) return null
  const encrypted = await crypto.subtle.encrypt(ALGORITHM, await keyOf(token), bytes)
  const text = new Uint8Array(encrypted).toBase64()
  const endsAt = Date.now() + REJECTED_PAGE_SECONDS * 1_000
  const [, stored] = await database(env).batch([
    deleteExpiredRejectedPages(env),
    database(env)
      .insert(rejectedPages)
      .select(
        sql`SELECT ${idOf(token, path)}, ${text}, ${endsAt}
            WHERE (SELECT count(*) FROM ${rejectedPages}) < ${MAX_PAGES}`,
      )
      .returning({ id: rejectedPages.id }),
  ])
  return stored.length > 0 ? token : null
}

/** Returns the page once. @returns null if no page was stored for this token and path */
export async function takeRejectedPage({
  env,
  path,
  token,
}: {
  env: Env
  path: string
  token: string
}): Promise<RejectedPage | null> {
  const [row] = await database(env)
    .delete(rejectedPages)
    .where(and(eq(rejectedPages.id, idOf(token, path)), gt(rejectedPages.endsAt, new Date())))
    .returning({ page: rejectedPages.page })
  if (!row) return null
  const encrypted = Uint8Array.fromBase64(row.page)
  const bytes = new Uint8Array(
    await crypto.subtle.decrypt(ALGORITHM, await keyOf(token), encrypted),
  )
  const text = await transform(bytes, new DecompressionStream('gzip'))
  return RejectedPage.parse(JSON.parse(new TextDecoder().decode(text)))
}

/** A key encrypts one page, so the initialization vector can be constant. */
const ALGORITHM = { name: 'AES-GCM', iv: new Uint8Array(12) }

const encoder = new TextEncoder()

const idOf = (token: string, path: string) => sha256(`${token} ${path}`).toString('base64url')

const keyOf = (token: string) =>
  crypto.subtle.importKey('raw', sha256(`key ${token}`), 'AES-GCM', false, ['encrypt', 'decrypt'])

async function transform(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = stream.writable.getWriter()
  const [, transformed] = await Promise.all([
    writer.write(bytes).then(() => writer.close()),
    new Response(stream.readable).arrayBuffer(),
  ])
  return new Uint8Array(transformed)
}
