// Generates TypeScript clients from an OpenAPI document.
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { generate } from 'orval'

/** The types of a document, for openapi-fetch and for the client package. @param source JSON */
export const generateTypes = async (source: string): Promise<string> =>
  astToString(await openapiTypescript(source))

/** Writes the SDK that hey-api generates. @param input the file of the document */
export async function generateHeyApi(input: string, folder: string): Promise<void> {
  await createClient({
    input,
    // Node requires extensions in imports.
    output: { path: folder, module: { extension: '.ts' } },
    logs: { level: 'silent', file: false },
  })
}

/**
 * Writes a file with the client that orval generates.
 * @param input the file of the document
 * @param client `zod` for schemas of requests and responses, `fetch` for functions
 */
export async function generateOrval(
  input: string,
  file: string,
  client: 'zod' | 'fetch',
): Promise<void> {
  // Without the override, a file for zod has one schema for the first success of each operation.
  const override = { zod: { generateEachHttpStatus: true } }
  await generate({ input, output: { client, target: file, override } })
}
