// Reads the OpenAPI document of a running service: its operations and all examples with their schemas.
import { Validator, type Schema } from '@cfworker/json-schema'

export interface Reference {
  $ref: string
}
export interface Media {
  schema: Schema
  examples?: Record<string, { value: unknown } | { externalValue: string }>
}
export interface DocumentedResponse {
  description: string
  content?: Record<string, Media>
}
export interface Operation {
  operationId: string
  description: string
  parameters?: { name: string; in: string; description: string; schema: Schema }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, DocumentedResponse | Reference>
}
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, DocumentedResponse>
    headers: Record<string, { schema: Schema; example: unknown; description: string }>
  }
}

/** An example with its place and the schema that it must match. */
export interface Example {
  place: string
  name: string
  value: unknown
  schema: Schema
}

export async function readDocument(url: string): Promise<{ source: string; document: OpenApi }> {
  const source = await (await fetch(`${url}/openapi.json`)).text()
  return { source, document: JSON.parse(source) }
}

/** Each operation of `paths` and `webhooks` with its method and path. */
export const operationsOf = (document: OpenApi) =>
  Object.entries({ ...document.paths, ...document.webhooks }).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      place: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

/** The response of an operation, also if it is a component. */
export function responseOf(
  document: OpenApi,
  response: DocumentedResponse | Reference,
): DocumentedResponse {
  if (!('$ref' in response)) return response
  const found = document.components.responses[response.$ref.split('/').at(-1) ?? '']
  if (!found) throw new Error(`${response.$ref} is not defined`)
  return found
}

/** The examples of a body. */
export const examplesOf = (place: string, content: Record<string, Media> = {}): Example[] =>
  Object.values(content).flatMap(({ schema, examples = {} }) =>
    Object.entries(examples).flatMap(([name, example]) =>
      'value' in example ? { place, name, value: example.value, schema } : [],
    ),
  )

/** The examples of a body that are files of the service. */
export const fileExamplesOf = (content: Record<string, Media> = {}) =>
  Object.entries(content).flatMap(([contentType, { examples = {} }]) =>
    Object.values(examples).flatMap((example) =>
      'externalValue' in example ? { contentType, url: example.externalValue } : [],
    ),
  )

/** @returns the errors of a value; an empty list if it is valid */
export function problemsOf(document: OpenApi, schema: Schema, value: unknown): string[] {
  const whole = { ...schema, components: document.components }
  const { errors } = new Validator(whole, '2020-12').validate(value)
  return errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
}
