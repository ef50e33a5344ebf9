// Code for copying, in several languages: it submits a job, or verifies webhooks. It runs as it is.
import { z } from 'zod'
import { CLIENT_ARCHIVE, PYTHON_ARCHIVE } from '../domain/docs.ts'
import type { ConsoleContext } from './console-context.ts'

/** As the API key of a snippet: the code reads the key from this environment variable. */
export const KEY_FROM_ENVIRONMENT = '$TRY_ON_API_KEY'

const Snippet = z.object({ label: z.string(), code: z.string() })
export type Snippet = z.infer<typeof Snippet>

interface TryOnRequest {
  /** The origin of this service. */
  baseUrl: string
  /** A key, or KEY_FROM_ENVIRONMENT. */
  apiKey: string
  fields: { model_image_url: string; garment_image_url: string; workspace_id?: string }
}

/** Code that submits a job and shows its result. The clients are those of the service's downloads. */
export const tryOnSnippets = (request: TryOnRequest): Snippet[] => [
  { label: 'curl', code: curlOf(request) },
  { label: 'TypeScript', code: typeScriptOf(request) },
  { label: 'Python', code: pythonOf(request) },
]

const curlOf = ({ baseUrl, apiKey, fields }: TryOnRequest) => {
  const header = `Authorization: Bearer ${apiKey}`
  // Only double quotes let the shell insert the variable.
  const authorization = apiKey === KEY_FROM_ENVIRONMENT ? `"${header}"` : shellText(header)
  return `curl ${shellText(`${baseUrl}/v1/tryon`)} \\
  -H ${authorization} \\
  -H 'Content-Type: application/json' \\
  -H 'Prefer: wait=30' \\
  -d ${shellText(JSON.stringify(fields, null, 2).replaceAll('\n', '\n  '))}`
}

const typeScriptOf = ({ baseUrl, apiKey, fields }: TryOnRequest) =>
  `// npm install ${baseUrl}/downloads/${CLIENT_ARCHIVE}
import { TryOnClient } from '@try-on/client'

const client = new TryOnClient({
  apiKey: ${apiKey === KEY_FROM_ENVIRONMENT ? 'process.env.TRY_ON_API_KEY' : scriptText(apiKey)},
  baseUrl: ${scriptText(baseUrl)},
})
const job = await client.tryOn.run({
${Object.entries(fields)
  .map(([name, value]) => `  ${name}: ${scriptText(value)},\n`)
  .join('')}})
console.log(job.output_url)`

const pythonOf = ({ baseUrl, apiKey, fields }: TryOnRequest) => {
  const isFromEnvironment = apiKey === KEY_FROM_ENVIRONMENT
  return `# pip install ${baseUrl}/downloads/${PYTHON_ARCHIVE}
${isFromEnvironment ? 'import os\n\n' : ''}from try_on import TryOnClient

client = TryOnClient(
    api_key=${isFromEnvironment ? 'os.environ["TRY_ON_API_KEY"]' : JSON.stringify(apiKey)},
    base_url=${JSON.stringify(baseUrl)},
)
job = client.try_on.run(
${Object.entries(fields)
  .map(([name, value]) => `    ${name}=${JSON.stringify(value)},\n`)
  .join('')})
print(job["output_url"])`
}

/** A word of a POSIX shell, in single quotes. */
const shellText = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A string literal of JavaScript, in single quotes. */
const scriptText = (text: string) =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`

/**
 * Code that verifies webhooks with the secret in `TRY_ON_WEBHOOK_SECRET`. It is that of the guide, which the
 * build writes to a static file.
 */
export async function verifySnippets(c: ConsoleContext): Promise<Snippet[]> {
  const url = new URL('/static/verify-webhook.json', c.req.url)
  const response = await c.env.ASSETS.fetch(url)
  return response.ok ? z.array(Snippet).parse(await response.json()) : []
}
