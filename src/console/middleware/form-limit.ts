// Reads the form of a request before anything else does, up to its limit.
import { createMiddleware } from 'hono/factory'
import { MAX_BODY_BYTES } from '../../domain/limits.ts'
import { readRequestBody } from '../../platform/net/read-limited.ts'
import type { ConsoleApp } from '../console-context.ts'
import { tooLargePage } from '../error-pages.tsx'

/**
 * Answers a form of more than 64 KiB with the page for it, before the form is parsed.
 * @throws AppError validation_error when the client closes the connection
 */
export const formLimit = createMiddleware<ConsoleApp>(async (c, next) => {
  const { raw } = c.req
  if (!raw.body) return next()
  const body = await readRequestBody(raw, MAX_BODY_BYTES)
  if (!body) return tooLargePage(c)
  c.req.raw = new Request(raw, { method: raw.method, body })
  return next()
})
