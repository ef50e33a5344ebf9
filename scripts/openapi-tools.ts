// Loads packages/openapi-tools: linters and generators for the OpenAPI document. The package has a lock file of its
// own, because only CI and `npm run generate -w @try-on/client` need its 300 packages.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './wrangler.ts'

const FOLDER = join(ROOT, 'packages', 'openapi-tools')
const INSTALL = 'npm ci --prefix packages/openapi-tools'

/** The exports of the package, without which this repository compiles. */
export interface OpenApiTools {
  /** The problems of a document. */
  lint(source: string): Promise<string[]>
  /** The types of a document. */
  generateTypes(source: string): Promise<string>
  generateHeyApi(input: string, folder: string): Promise<void>
  generateOrval(input: string, file: string, client: 'zod' | 'fetch'): Promise<void>
  /** Runs a Postman collection with files of a folder. */
  runCollection(
    file: string,
    variables: Record<string, string>,
    folder: string,
  ): Promise<{ name: string; status: number | undefined; failures: string[] }[]>
  /** The exported names of a declaration file, and their members, that have no comment. */
  undocumentedExports(file: string): { checked: number; undocumented: string[] }
}

/** @throws Error that says how to install the package if it is not */
export async function loadOpenApiTools(): Promise<OpenApiTools> {
  if (!isInstalled()) throw new Error(`packages/openapi-tools is not installed. Run: ${INSTALL}`)
  return (await import(pathToFileURL(join(FOLDER, 'src', 'index.ts')).href)) as OpenApiTools
}

const isInstalled = () => existsSync(join(FOLDER, 'node_modules', 'typescript'))

/**
 * Whether the package is installed. Prints a warning if not, because its tests do not run then.
 * @throws Error if it is missing in CI, where all tests must run
 */
export function hasOpenApiTools(): boolean {
  if (isInstalled()) return true
  const message = `packages/openapi-tools is not installed (${INSTALL}), so the tests that need it did not run.`
  if (process.env['CI']) throw new Error(message)
  process.stderr.write(`\n  WARNING: ${message}\n\n`)
  return false
}
