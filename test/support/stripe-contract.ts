// Checks requests to Stripe and responses of the fake against Stripe's API description. The schemas come
// from scripts/stripe-contract.ts.
import { Validator } from '@cfworker/json-schema'
import contract from './stripe-contract.json'

/** An object of Stripe's API. Its shape is checked at run time, by the schema. */
// oxlint-disable-next-line no-explicit-any
export type StripeObject = Record<string, any>

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
}
const { operations, $defs } = contract as unknown as {
  operations: Record<string, { request: Schema; response: Schema }>
  $defs: Record<string, Schema>
}

/** The operation of a request, such as "GET /v1/invoices/{id}"; undefined when it is not described. */
export function operationOf(method: string, path: string): string | undefined {
  const matches = (name: string) => {
    const [verb, template = ''] = name.split(' ')
    return verb === method && new RegExp(`^${template.replaceAll('{id}', '[^/]+')}$`).test(path)
  }
  return Object.keys(operations).find(matches)
}

export const requestErrors = (operation: string, body: unknown): string[] =>
  errorsOf(operations[operation]?.request ?? {}, body)

export const responseErrors = (operation: string, body: unknown): string[] =>
  errorsOf(operations[operation]?.response ?? {}, body)

const validators = new Map<Schema, Validator>()

const MAX_ERRORS = 8

function errorsOf(schema: Schema, value: unknown): string[] {
  let validator = validators.get(schema)
  if (!validator) {
    validator = new Validator({ ...schema, $defs } as object, '2020-12', false)
    validators.set(schema, validator)
  }
  const errors = validator
    .validate(value)
    .errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`)
  return errors.slice(0, MAX_ERRORS)
}

/** Parses Stripe's form encoding, such as `items[0][price]=…`, with the types of the schema. */
export function parseForm(operation: string, text: string): StripeObject {
  const root: StripeObject = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll(']', '').split('[')
    let target = root
    for (const key of path.slice(0, -1)) target = target[key] ??= {}
    const last = path.at(-1) ?? ''
    if (last === '') throw new Error(`An array without indexes: ${name}`)
    target[last] = value
  }
  return typed(root, operations[operation]?.request ?? {}) as StripeObject
}

const resolve = (schema: Schema): Schema =>
  schema.$ref ? ($defs[schema.$ref.slice('#/$defs/'.length)] ?? {}) : schema

const optionsOf = (schema: Schema): Schema[] => {
  const resolved = resolve(schema)
  return resolved.anyOf?.flatMap(optionsOf) ?? [resolved]
}

/** A form contains texts only: gives them the types that the schema has at their place. */
function typed(value: unknown, schema: Schema): unknown {
  const options = optionsOf(schema)
  const allows = (type: string) => options.some((option) => option.type === type)
  if (typeof value === 'string') {
    if (allows('boolean') && /^(true|false)$/.test(value)) return value === 'true'
    return allows('number') && /^-?\d+$/.test(value) ? Number(value) : value
  }
  const entries = Object.entries(value as StripeObject)
  if (entries.every(([key]) => /^\d+$/.test(key)) && allows('array')) {
    const items = options.find(({ type }) => type === 'array')?.items ?? {}
    return entries.map(([, item]) => typed(item, items))
  }
  const properties = Object.assign({}, ...options.map((option) => option.properties))
  return Object.fromEntries(
    entries.map(([key, item]) => [key, typed(item, properties[key] ?? {})]),
  ) as StripeObject
}

/**
 * An object of a definition such as "Invoices.Invoice" with the neutral value of each required property
 * that is not given: null where the description allows it, else false, 0 or empty.
 */
export function complete(definition: string, given: StripeObject): StripeObject {
  const schema = $defs[definition]
  if (!schema) throw new Error(`No definition ${definition}`)
  return completeObject(schema, given)
}

function completeObject(schema: Schema, given: StripeObject): StripeObject {
  const object = { ...given }
  for (const name of schema.required ?? []) {
    const options = optionsOf(schema.properties?.[name] ?? {})
    const value = object[name]
    if (value === undefined) object[name] = neutral(options)
    else if (value && typeof value === 'object' && !Array.isArray(value)) {
      const inner = options.find(({ type }) => type === 'object')
      if (inner) object[name] = completeObject(inner, value)
    }
  }
  return object
}

function neutral(options: Schema[]): unknown {
  if (options.some(({ type }) => type === 'null')) return null
  const [first] = options
  if (first?.enum) return first.enum[0]
  if (first?.type === 'object') return completeObject(first, {})
  return { array: [], boolean: false, number: 0, string: '' }[first?.type ?? ''] ?? {}
}

/** Whether a definition has a property. */
export const hasProperty = (definition: string, name: string): boolean =>
  $defs[definition]?.properties?.[name] !== undefined
