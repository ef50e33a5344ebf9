// Validates responses of /v1 against the OpenAPI document that the service publishes. The published
// document allows additions. These checks do not: an undocumented field or error code fails a test.
import { Validator, type Schema } from '@cfworker/json-schema'
import { expect } from 'vitest'
import { openApiDocument } from '../../src/api/openapi-document.ts'

interface Reference {
  $ref: string
}
interface DocumentedHeader {
  required?: boolean
  schema: Schema
}
interface DocumentedResponse {
  headers?: Record<string, Reference>
  content?: {
    'application/json': {
      schema: Schema
      examples: Record<string, { value: unknown }>
    }
  }
}
interface Documented {
  paths: Record<string, Record<string, { responses: Record<string, DocumentedResponse> }>>
  components: {
    schemas: Record<string, Schema>
    headers: Record<string, DocumentedHeader>
    responses: Record<string, DocumentedResponse>
  }
}

/** The headers of a success that not every request causes. */
const CONDITIONAL = new Set(['Idempotent-Replayed', 'Preference-Applied', 'Ignored-Fields'])

// Parsed from JSON, so that the published document is checked, not the library's types.
const document: Documented = JSON.parse(
  JSON.stringify(openApiDocument('https://try-on.test')),
  (_, value) => (isObjectSchema(value) ? { ...value, additionalProperties: false } : value),
)

/** Asserts that the status, headers and body of a documented route are as documented. */
export async function expectDocumented(
  method: string,
  path: string,
  response: Response,
): Promise<void> {
  const operation = operationOf(method, new URL(path, 'https://try-on.test').pathname)
  if (!operation) return
  const label = `${method} ${path} → ${response.status}`
  const listed = operation.responses[response.status]
  expect(listed, `${label} is documented`).toBeDefined()
  const documented = listed && resolve(listed, document.components.responses)
  for (const [name, reference] of Object.entries(documented?.headers ?? {})) {
    const { schema, required } = resolve(reference, document.components.headers)
    const value = response.headers.get(name)
    const optional = response.ok ? CONDITIONAL.has(name) : !required
    if (value === null) expect(optional, `${label} lacks ${name}`).toBe(true)
    else expectValid(schema, schema.type === 'integer' ? Number(value) : value, `${label} ${name}`)
  }
  const content = documented?.content?.['application/json']
  if (!content || method === 'HEAD') return
  const body: unknown = await response.json()
  expectValid(content.schema, body, label)
  if (!response.ok) {
    expect(Object.keys(content.examples), label).toContain(
      (body as { error: { code: string } }).error.code,
    )
  }
}

/** Asserts that a value is valid for a schema of the document's components. */
export const expectComponent = (name: string, value: unknown): void =>
  expectValid({ $ref: `#/components/schemas/${name}` }, value, name)

function isObjectSchema(value: unknown): value is object {
  const isObject = typeof value === 'object' && value !== null
  return isObject && 'type' in value && value.type === 'object' && 'properties' in value
}

function resolve<T extends object>(value: T | Reference, components: Record<string, T>): T {
  if (!('$ref' in value)) return value
  const name = value.$ref.split('/').at(-1) ?? ''
  const component = components[name]
  if (!component) throw new Error(`${value.$ref} is not defined`)
  return component
}

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
