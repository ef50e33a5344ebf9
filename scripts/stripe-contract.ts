// Writes test/support/stripe-contract.json: JSON schemas of the requests to Stripe that this service
// sends and of their responses. The source is the type declarations of the `stripe` package, which
// Stripe generates from its OpenAPI description. Run it after an update of the package:
// node scripts/stripe-contract.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parsers } from 'prettier/plugins/babel'
import type { Parser } from 'prettier'

process.chdir(join(import.meta.dirname, '..'))
const PACKAGE = 'node_modules/stripe'
const RESOURCES = `${PACKAGE}/esm/resources`
const OUTPUT = 'test/support/stripe-contract.json'

/** File of the resource → methods that src/billing/stripe calls. */
const OPERATIONS: Record<string, string[]> = {
  'BillingPortal/Configurations': ['list', 'create'],
  'BillingPortal/Sessions': ['create'],
  'Checkout/Sessions': ['create', 'retrieve', 'list', 'expire'],
  Customers: ['create', 'update', 'retrieve', 'list', 'listPaymentMethods'],
  Disputes: ['list'],
  Events: ['list'],
  InvoicePayments: ['list'],
  Invoices: ['retrieve', 'list', 'voidInvoice', 'createPreview'],
  PaymentIntents: ['create', 'retrieve', 'list'],
  Prices: ['create', 'list'],
  Products: ['create'],
  Refunds: ['create', 'list'],
  Subscriptions: ['retrieve', 'update', 'cancel'],
  'Tax/Calculations': ['create'],
}

/** Objects that responses contain in full. Others appear as their id. */
const EXPANDED = new Set(
  (
    'Address Charge Customer Invoice InvoiceLineItem InvoicePayment Metadata PaymentIntent ' +
    'PaymentMethod Plan Price Subscription SubscriptionItem'
  ).split(' '),
)
/** Levels of nested objects that are described. Deeper ones may contain anything. */
const MAX_DEPTH = 3
const PAYMENT_METHOD_DETAILS = /PaymentMethodOptions|PaymentMethodData$|PaymentMethodDetails/

type Node = Record<string, any> // oxlint-disable-line no-explicit-any -- Babel's syntax tree
type Schema = Record<string, unknown>
interface Declaration {
  file: string
  name: string
  node: Node
}
interface File {
  declarations: Map<string, Node>
  imports: Map<string, string>
}

const files = new Map<string, File>()
const babel = (parsers as unknown as Record<string, Parser<Node>>)['babel-ts']

function load(path: string): File {
  const existing = files.get(path)
  if (existing) return existing
  const file: File = { declarations: new Map(), imports: new Map() }
  files.set(path, file)
  const tree = babel?.parse(readFileSync(path, 'utf8'), {} as never) as Node
  collect(file, '', tree['program']?.body ?? tree['body'])
  for (const node of tree['program']?.body ?? tree['body']) {
    if (node.type !== 'ImportDeclaration' || !node.source.value.startsWith('.')) continue
    const target = join(dirname(path), node.source.value.replace(/\.js$/, '.d.ts'))
    for (const { local } of node.specifiers) file.imports.set(local.name, target)
  }
  return file
}

function collect(file: File, scope: string, nodes: Node[]): void {
  for (const outer of nodes) {
    const node: Node = outer['declaration'] ?? outer
    const name = node['id']?.name
    if (!name) continue
    if (node['type'] === 'TSModuleDeclaration') {
      collect(file, `${scope}${name}.`, node['body'].body)
    } else file.declarations.set(scope + name, node)
  }
}

/** Finds a type from inside a scope, as TypeScript does. */
function resolve(file: string, scope: string, name: string): Declaration | undefined {
  const { declarations, imports } = load(file)
  const parts = scope.split('.')
  for (let length = parts.length; length >= 0; length--) {
    const candidate = [...parts.slice(0, length), name].join('.')
    const node = declarations.get(candidate)
    if (node) return { file, name: candidate, node }
  }
  const imported = imports.get(name.split('.')[0] ?? '')
  return imported === undefined ? undefined : resolve(imported, '', name)
}

const definitions: Record<string, Schema> = {}
const queue: { declaration: Declaration; depth: number }[] = []
const queued = new Set<string>()

const keyOf = ({ file, name }: Declaration) =>
  `${relative(RESOURCES, file)
    .replace(/\.d\.ts$/, '')
    .replaceAll('/', '.')
    .replace(/^\.+/, '')}.${name}`

function reference(declaration: Declaration, depth: number): Schema {
  const key = keyOf(declaration)
  if (!queued.has(key)) {
    if (depth > MAX_DEPTH || PAYMENT_METHOD_DETAILS.test(declaration.name)) return {}
    queued.add(key)
    queue.push({ declaration, depth })
  }
  return { $ref: `#/$defs/${key}` }
}

const nameOf = (node: Node): string =>
  node['type'] === 'TSQualifiedName'
    ? `${nameOf(node['left'])}.${node['right'].name}`
    : node['name']

const NULL: Schema = { type: 'null' }

/** The JSON schema of a type. */
function schemaOf(node: Node, from: Declaration, depth: number): Schema {
  switch (node['type']) {
    case 'TSStringKeyword':
      return { type: 'string' }
    case 'TSNumberKeyword':
      return { type: 'number' }
    case 'TSBooleanKeyword':
      return { type: 'boolean' }
    case 'TSNullKeyword':
      return NULL
    case 'TSLiteralType':
      return { enum: [node['literal'].value] }
    case 'TSUnionType':
      return unionOf(node['types'], from, depth)
    case 'TSTypeLiteral':
      return objectOf(node['members'], from, depth)
    case 'TSTypeReference':
      return referenced(node, from, depth)
    default:
      return {}
  }
}

function unionOf(types: Node[], from: Declaration, depth: number): Schema {
  const schemas = types
    // Enums are open in the types, for values that Stripe may add.
    .filter((type) => nameOf(type['typeName'] ?? {}) !== 'OtherString')
    .map((type) => schemaOf(type, from, depth))
  const values = schemas.flatMap((schema) => (schema['enum'] as unknown[] | undefined) ?? [])
  const others = schemas.filter((schema) => !('enum' in schema))
  const options = [...(values.length > 0 ? [{ enum: values }] : []), ...others]
  return options.length === 1 ? (options[0] ?? {}) : { anyOf: options }
}

function referenced(node: Node, from: Declaration, depth: number): Schema {
  const name = nameOf(node['typeName'])
  const parameters: Node[] = (node['typeArguments'] ?? node['typeParameters'])?.params ?? []
  const [first] = parameters
  const inner = () => (first ? schemaOf(first, from, depth) : {})
  if (name === 'Array') return { type: 'array', items: inner() }
  if (name === 'Emptyable') return { anyOf: [{ enum: [''] }, inner()] }
  if (name === 'Decimal') return { type: 'string' }
  if (name === 'ApiList') return listOf(inner())
  const found = resolve(from.file, from.name, name)
  if (!found) return {}
  if (found.node['type'] === 'TSTypeAliasDeclaration') {
    return schemaOf(found.node['typeAnnotation'], found, depth)
  }
  const isOtherResource = found.file !== from.file && !found.file.endsWith('shared.d.ts')
  if (!isOtherResource) return reference(found, depth + 1)
  // Unions with an id: anything that is not listed never matches.
  return EXPANDED.has(found.name) ? reference(found, 0) : { not: {} }
}

const listOf = (item: Schema): Schema => ({
  type: 'object',
  required: ['object', 'data', 'has_more', 'url'],
  properties: {
    object: { enum: ['list'] },
    data: { type: 'array', items: item },
    has_more: { type: 'boolean' },
    url: { type: 'string' },
  },
  additionalProperties: false,
})

function objectOf(members: Node[], from: Declaration, depth: number): Schema {
  const properties: Record<string, Schema> = {}
  const required: string[] = []
  for (const member of members) {
    const type = member['typeAnnotation']?.typeAnnotation
    if (member['type'] === 'TSIndexSignature') {
      return { type: 'object', additionalProperties: schemaOf(type, from, depth) }
    }
    // `deleted?: void` says that the property is absent.
    if (member['type'] !== 'TSPropertySignature' || type.type === 'TSVoidKeyword') continue
    const name: string = member['key'].name ?? member['key'].value
    properties[name] = schemaOf(type, from, depth)
    if (!member['optional']) required.push(name)
  }
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function define({ declaration, depth }: { declaration: Declaration; depth: number }): void {
  const { node } = declaration
  const schema = objectOf(node['body'].body, declaration, depth)
  for (const { expression } of node['extends'] ?? []) {
    const parent = resolve(declaration.file, declaration.name, nameOf(expression))
    if (!parent) continue
    const inherited = objectOf(parent.node['body'].body, parent, depth)
    Object.assign((schema['properties'] ??= {}) as object, inherited['properties'])
  }
  definitions[keyOf(declaration)] = schema
}

const METHOD = /^ {4}(\w+)\(([^)]*)\) \{\s+return this\._makeRequest\('(\w+)', [`']([^`']+)[`']/gm

function operationsOf(resource: string, methods: string[]): [string, Schema][] {
  const file = `${RESOURCES}/${resource}.d.ts`
  const code = readFileSync(`${RESOURCES}/${resource}.js`, 'utf8')
  const routes = new Map([...code.matchAll(METHOD)].map((match) => [match[1], match]))
  const type = [...load(file).declarations].find(([name]) => name.endsWith('Resource'))
  if (!type) throw new Error(`${file} has no resource`)
  const [className, node] = type
  return methods.map((method) => {
    const [, , , verb, path = ''] = routes.get(method) ?? []
    const member = node['body'].body.find((item: Node) => item['key']?.name === method)
    if (!verb || !member) throw new Error(`${resource} has no method ${method}`)
    const from = { file, name: className, node }
    const params = (member.params ?? member.parameters).find((p: Node) => p['name'] === 'params')
    const returned = member.returnType.typeAnnotation
    const [result] = (returned.typeArguments ?? returned.typeParameters).params
    const isList = nameOf(returned.typeName) === 'ApiListPromise'
    const unwrapped = isList ? result : (result.typeArguments ?? result.typeParameters).params[0]
    // The declarations of a resource itself count as expanded.
    const response = responseOf(unwrapped, from)
    return [
      `${verb} ${path.replace(/\$\{[^}]*\}/g, '{id}')}`,
      {
        request: params ? schemaOf(params.typeAnnotation.typeAnnotation, from, 0) : {},
        response: isList ? listOf(response) : response,
      },
    ]
  })
}

/** Events contain any object: each is checked when the fake creates it. */
function responseOf(node: Node, from: Declaration): Schema {
  if (nameOf(node['typeName'] ?? {}) === 'Event') return {}
  if (node['type'] !== 'TSUnionType') return schemaOf(node, from, 0)
  const [object] = node['types']
  return schemaOf(object, from, 0)
}

const operations: Record<string, Schema> = {}
for (const [resource, methods] of Object.entries(OPERATIONS)) {
  for (const [name, schema] of operationsOf(resource, methods)) operations[name] = schema
}
for (let item = queue.shift(); item; item = queue.shift()) define(item)

const contract = {
  description: readFileSync(`${PACKAGE}/OPENAPI_VERSION`, 'utf8').trim(),
  package: (JSON.parse(readFileSync(`${PACKAGE}/package.json`, 'utf8')) as { version: string })
    .version,
  operations,
  $defs: definitions,
}
writeFileSync(OUTPUT, `${JSON.stringify(contract)}\n`)
console.log(`${OUTPUT}: ${Object.keys(operations).length} operations`)
