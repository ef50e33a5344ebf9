// Holds answers of /v1 against the OpenAPI document that the service publishes.
import { Validator } from '@cfworker/json-schema'
import type { Schema } from '@cfworker/json-schema'
import { expect } from 'vitest'
import { openApiDocument } from '../../src/api/openapi.ts'

interface DocumentedAnswer {
  headers?: Record<string, { required?: boolean; schema: Schema }>
  content?: { 'application/json': { schema: Schema } }
}
interface Documented {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedAnswer> }>>
  components: Schema
}

// The document is plain JSON; as such, not as the library's types, is it checked here.
const document: Documented = JSON.parse(JSON.stringify(openApiDocument('https://try-on.test')))

/** Asserts that an answer's status, headers and body are as documented, if its route is. */
export async function expectDocumented(
  method: string,
  path: string,
  answer: Response,
): Promise<void> {
  const operation = operationOf(method, new URL(path, 'https://try-on.test').pathname)
  if (!operation) return
  const label = `${method} ${path} → ${answer.status}`
  const documented = operation.responses[answer.status]
  expect(documented, `${label} is documented`).toBeDefined()
  for (const [name, { required, schema }] of Object.entries(documented?.headers ?? {})) {
    const value = answer.headers.get(name)
    if (value === null) expect(required ?? false, `${label} lacks ${name}`).toBe(false)
    else expectValid(schema, schema.type === 'integer' ? Number(value) : value, `${label} ${name}`)
  }
  const schema = documented?.content?.['application/json'].schema
  if (schema && method !== 'HEAD') expectValid(schema, await answer.json(), label)
}

/** Asserts that a value fits a schema of the document's components. */
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
