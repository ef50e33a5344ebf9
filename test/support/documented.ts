// Validates responses of /v1 against the OpenAPI document that the service publishes.
import { Validator } from '@cfworker/json-schema'
import type { Schema } from '@cfworker/json-schema'
import { expect } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.ts'

interface DocumentedResponse {
  headers?: Record<string, { required?: boolean; schema: Schema }>
  content?: { 'application/json': { schema: Schema } }
}
interface Documented {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>
  components: Schema
}

// Parsed from JSON, so that the published document is checked, not the library's types.
const document: Documented = JSON.parse(JSON.stringify(openApiDocument('https://try-on.test')))

/** Asserts that the status, headers and body of a documented route are as documented. */
export async function expectDocumented(
  method: string,
  path: string,
  response: Response,
): Promise<void> {
  const operation = operationOf(method, new URL(path, 'https://try-on.test').pathname)
  if (!operation) return
  const label = `${method} ${path} → ${response.status}`
  const documented = operation.responses[response.status]
  expect(documented, `${label} is documented`).toBeDefined()
  for (const [name, { required, schema }] of Object.entries(documented?.headers ?? {})) {
    const value = response.headers.get(name)
    if (value === null) expect(required ?? false, `${label} lacks ${name}`).toBe(false)
    else expectValid(schema, schema.type === 'integer' ? Number(value) : value, `${label} ${name}`)
  }
  const schema = documented?.content?.['application/json'].schema
  if (schema && method !== 'HEAD') expectValid(schema, await response.json(), label)
}

/** Asserts that a value is valid for a schema of the document's components. */
export const expectComponent = (name: string, value: unknown): void =>
  expectValid({ $ref: `#/components/schemas/${name}` }, value, name)

function operationOf(method: string, path: string) {
  const template = Object.keys(document.paths).find((known) =>
    new RegExp(`^${known.replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
  )
  return template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()]
}

function expectValid(schema: Schema, value: unknown, label: string): void {
  const whole = { ...schema, components: document.components }
  const { valid, errors } = new Validator(whole, '2020-12').validate(value)
  expect(valid, `${label}: ${JSON.stringify(value)} ${JSON.stringify(errors)}`).toBe(true)
}
