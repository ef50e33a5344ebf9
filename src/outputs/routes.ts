// Pictures behind signed links: a job's output for its customer, our copies of inputs for engines.
import { Hono } from 'hono'
import type { Context } from 'hono'
import type { App } from '../http/context.ts'
import { AppError } from '../domain/errors.ts'
import { checkLink } from '../signing/signed-url.ts'

export const outputs = new Hono<App>()
  .get('/outputs/:file', (c) => serve(c, `outputs/${c.req.param('file')}`))
  .get('/inputs/:job/:file', (c) => serve(c, `inputs/${c.req.param('job')}/${c.req.param('file')}`))
  .get('/uploads/:upload/:file', (c) =>
    serve(c, `uploads/${c.req.param('upload')}/${c.req.param('file')}`),
  )

async function serve(c: Context<App>, key: string): Promise<Response> {
  const { expires = '', signature = '' } = c.req.query()
  const problem = checkLink(c.env, key, expires, signature)
  if (problem) throw new AppError(problem)

  const object = await c.env.IMAGES.get(key, { onlyIf: preconditions(c) })
  if (!object) throw new AppError('not_found', 'This picture is no longer kept.')
  c.header('ETag', object.httpEtag)
  // The link is a secret of its holder's, and a copy must not outlive it.
  const maxAge = Math.max(0, Number(expires) - Math.floor(Date.now() / 1_000))
  c.header('Cache-Control', `private, max-age=${maxAge}`)
  if (!('body' in object)) return c.body(null, 304)
  c.header('Content-Type', object.httpMetadata?.contentType)
  c.header('Content-Length', String(object.size))
  return c.body(object.body)
}

/** A field value of If-None-Match (RFC 9110, 13.1.2). */
const ENTITY_TAGS = /^\s*(\*|(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*)\s*$/

/**
 * What R2 is told of a request's preconditions: If-None-Match only, since a picture never changes
 * and the others could tell a reader nothing. R2 throws on a malformed tag, so none is passed on.
 */
function preconditions(c: Context<App>): Headers {
  const tags = c.req.header('If-None-Match')
  return new Headers(tags && ENTITY_TAGS.test(tags) ? { 'If-None-Match': tags } : {})
}
