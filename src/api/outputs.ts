// Serves images through signed links: outputs to customers, input copies and uploads to engines.
import { Hono, type Context } from 'hono'
import type { App } from '../http/request-context.ts'
import { AppError } from '../domain/errors.ts'
import { preconditions } from '../http/preconditions.ts'
import { checkLink } from '../platform/signing/signed-url.ts'

export const outputs = new Hono<App>()
  .get('/outputs/:file', (c) => serve(c, `outputs/${c.req.param('file')}`))
  .get('/inputs/:job/:file', (c) => serve(c, `inputs/${c.req.param('job')}/${c.req.param('file')}`))
  .get('/uploads/:upload/:file', (c) =>
    serve(c, `uploads/${c.req.param('upload')}/${c.req.param('file')}`),
  )

/** The messages for links that no job can renew. */
const OF_UPLOADS = {
  invalid_signature:
    'The signature of this link is not valid. Use the URL of the upload unchanged.',
  url_expired: 'This link has expired. Upload the image again.',
} as const

async function serve(c: Context<App>, key: string): Promise<Response> {
  const { expires = '', signature = '' } = c.req.query()
  const problem = checkLink(c.env, key, expires, signature)
  if (problem)
    throw new AppError(problem, key.startsWith('uploads/') ? OF_UPLOADS[problem] : undefined)

  const object = await c.env.IMAGES.get(key, {
    onlyIf: preconditions(c.req.header('If-None-Match')),
  })
  if (!object) throw new AppError('not_found', 'This picture has been deleted.')
  c.header('ETag', object.httpEtag)
  // The link is a secret, so only private caches may store the image, until the link expires.
  const maxAge = Math.max(0, Number(expires) - Math.floor(Date.now() / 1_000))
  c.header('Cache-Control', `private, max-age=${maxAge}`)
  if (!('body' in object)) return c.body(null, 304)
  c.header('Content-Type', object.httpMetadata?.contentType)
  c.header('Content-Length', String(object.size))
  return c.body(object.body)
}
