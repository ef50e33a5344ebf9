// The code that verifies webhooks, from the guide. The build writes it to a static file.
import { z } from 'zod'
import type { ConsoleContext } from './console-context.ts'
import type { Snippet } from './snippets.ts'

const Snippets = z.array(z.object({ label: z.string(), code: z.string() }))

/** Code in several languages, which reads the secret from `TRY_ON_WEBHOOK_SECRET`. */
export async function verifySnippets(c: ConsoleContext): Promise<Snippet[]> {
  const url = new URL('/static/verify-webhook.json', c.req.url)
  const response = await c.env.ASSETS.fetch(url)
  return response.ok ? Snippets.parse(await response.json()) : []
}
