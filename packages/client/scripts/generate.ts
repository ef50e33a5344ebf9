// Writes src/schema.ts, the types of the OpenAPI document's components. Run it with
// `npm run generate -w @try-on/client` after each change of the document.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { loadOpenApiTools } from '../../../scripts/openapi-tools.ts'
import { openApiDocument } from '../../../src/api/openapi-document.ts'

export const SCHEMA_FILE = join(import.meta.dirname, '..', 'src', 'schema.ts')
const HEADER = '// Generated from the OpenAPI document by scripts/generate.ts. Do not edit it.\n'

interface Schema {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
}

/** Copies the description of a component to each property that refers to it. */
function describeReferences(schemas: Record<string, Schema>): Record<string, Schema> {
  const describe = (property: Schema): Schema => {
    const { description } = schemas[property.$ref?.split('/').at(-1) ?? ''] ?? {}
    return { ...(description !== undefined && { description }), ...property }
  }
  return mapValues(schemas, (schema) =>
    schema.properties ? { ...schema, properties: mapValues(schema.properties, describe) } : schema,
  )
}

const mapValues = <T>(record: Record<string, T>, map: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))

/** The text of src/schema.ts for the document of this repository. */
export async function generateSchema(): Promise<string> {
  const document = openApiDocument('https://try-on.example')
  const { openapi, info, components } = document
  // The client uses no types of operations and headers.
  const schemas = describeReferences((components?.schemas ?? {}) as Record<string, Schema>)
  const resources = { openapi, info, paths: {}, components: { schemas } }
  const { generateTypes } = await loadOpenApiTools()
  const types = await generateTypes(JSON.stringify(resources))
  const options = await resolveConfig(SCHEMA_FILE)
  // Editors show the text of a comment, not the tag that openapi-typescript writes.
  const documented = types.replaceAll('@description ', '').replaceAll(/^ *\* Format: .*\n/gm, '')
  return format(`${HEADER}${documented}`, { ...options, parser: 'typescript' })
}

if (import.meta.main) writeFileSync(SCHEMA_FILE, await generateSchema())
