// Programs that use the client package: one with every kind of call, and the examples of its documentation.
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT } from '../../../scripts/wrangler.ts'

export const CONSUMER = `
import { ApiError, JobError, TryOnClient, webhooks } from '@try-on/client'
import type { CompletedJob, ErrorCode, JobStatus, WebhookEvent } from '@try-on/client'

const client = new TryOnClient({ apiKey: 'svc_test_sk_1', baseUrl: 'https://try-on.example', fetch })

export async function run(signal: AbortSignal): Promise<string> {
  try {
    const job: CompletedJob = await client.tryOn.run(
      { model_image_url: 'https://shop.example/1', garment_image_url: 'https://shop.example/2' },
      { signal, onUpdate: ({ status }) => void status.length },
    )
    for await (const { job_id, status } of client.jobs.list({ created_after: new Date() })) {
      const known: JobStatus = status
      await client.jobs.wait(job_id + known)
    }
    // @ts-expect-error webhook_status is not a field of listed jobs
    ;(await client.jobs.list().page()).jobs[0]?.webhook_status
    const bytes: Uint8Array = new Uint8Array(1)
    await client.uploads.create(bytes)
    return job.output_url
  } catch (error) {
    if (error instanceof ApiError) {
      const code: ErrorCode = error.code
      return code === 'insufficient_credits' ? '' : error.docsUrl
    }
    if (error instanceof JobError) return error.code ?? ''
    throw error
  }
}

export const receive = async (request: Request): Promise<WebhookEvent['type']> =>
  (await webhooks.verify({ body: await request.text(), headers: request.headers, secret: 's' })).type

// @ts-expect-error garment_image_url is required
void client.tryOn.submit({ model_image_url: 'https://shop.example/1' })
// @ts-expect-error no such status
client.jobs.list({ status: 'done' })
`

/** What the examples use and do not declare. */
const SURROUNDINGS = `
import type { ListedJob, TryOnClient, TryOnRequest } from '@try-on/client'
declare global {
  const client: TryOnClient
  /** A submission, or a received webhook. */
  const request: TryOnRequest & Request
  const order: { id: string }
  const job_id: string
  const cursor: string | undefined
  function store(job: ListedJob): Promise<void>
  function show(url: string | null): void
  function askForAnotherPhoto(): void
  function alertBilling(): void
}
`

const EXPRESS = `
declare module 'express' {
  import type { IncomingMessage } from 'node:http'
  interface Reply {
    sendStatus(status: number): void
    status(status: number): { send(text: string): void }
  }
  type Handler = (
    request: IncomingMessage & { body: Uint8Array },
    reply: Reply,
    next: (error: unknown) => void,
  ) => Promise<void>
  function express(): { post(path: string, body: object, handler: Handler): void }
  namespace express {
    function raw(options: { type: string }): object
  }
  export default express
}
`

/** The TypeScript examples of the guides and of the README, by file name, with what they need. */
export function examples(): Map<string, string> {
  const files = new Map([
    ['surroundings.d.ts', SURROUNDINGS],
    ['express.d.ts', EXPRESS],
  ])
  for (const path of globSync(['docs/guides/*.md', 'packages/client/README.md'], { cwd: ROOT })) {
    const markdown = readFileSync(join(ROOT, path), 'utf8')
    for (const [, code = ''] of markdown.matchAll(/^```ts\n(.*?)^```/gms)) {
      files.set(`${basename(path, '.md')}-${files.size}.ts`, `${code}\nexport {}\n`)
    }
  }
  return files
}
