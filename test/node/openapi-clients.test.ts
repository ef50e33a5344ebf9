// Clients that generators create from the OpenAPI document: they compile with strict settings and run
// against the service. The document's examples are sent to the service as they are.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Program } from '../../packages/openapi-tools/clients/program.ts'
import { hasOpenApiTools, loadOpenApiTools } from '../../scripts/openapi-tools.ts'
import { ROOT } from '../../scripts/wrangler.ts'
import {
  examplesOf,
  fileExamplesOf,
  operationsOf,
  readDocument,
  responseOf,
  type OpenApi,
} from './support/openapi.ts'
import { COLLECTION_FILE, createCollection } from '../../scripts/postman.ts'
import { provokeErrors } from './support/provoked-errors.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

const PROGRAMS = join(ROOT, 'packages', 'openapi-tools', 'clients')
const GENERATED = join(PROGRAMS, 'generated')
const TYPESCRIPT = join(
  ROOT,
  'packages',
  'openapi-tools',
  'node_modules',
  'typescript',
  'bin',
  'tsc',
)

type ZodFile = Record<string, { parse(value: unknown): unknown }>

const service = sharedService()
let document: OpenApi
let shop: NewOrganisation

const importFile = (...path: string[]) => import(pathToFileURL(join(PROGRAMS, ...path)).href)

const skip = !hasOpenApiTools()

before(async () => {
  if (skip) return
  const { generateHeyApi, generateOrval, generateTypes } = await loadOpenApiTools()
  const read = await readDocument(service.url)
  document = read.document
  shop = await service.newOrganisation({ rate_limit_per_minute: 600 })

  rmSync(GENERATED, { recursive: true, force: true })
  mkdirSync(GENERATED)
  const input = join(GENERATED, 'openapi.json')
  writeFileSync(input, read.source)
  writeFileSync(join(GENERATED, 'schema.ts'), await generateTypes(read.source))
  await generateHeyApi(input, join(GENERATED, 'hey-api'))
  await generateOrval(input, join(GENERATED, 'zod.ts'), 'zod')
  await generateOrval(input, join(GENERATED, 'orval-fetch.ts'), 'fetch')
})
after(() => {
  if (!skip) rmSync(GENERATED, { recursive: true, force: true })
})

describe('a generated client', { skip }, () => {
  it('compiles with strict settings', async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      TYPESCRIPT,
      '--project',
      PROGRAMS,
    ]).catch((error: { stdout: string; stderr: string }) => error)
    assert.equal(`${stdout}${stderr}`, '')
  })

  for (const program of ['openapi-fetch', 'hey-api', 'orval']) {
    it(`submits, waits, lists and narrows an error: ${program}`, async () => {
      // The programs compile only with the generated files.
      const { run } = (await importFile(`${program}.ts`)) as { run: Program }
      const outcome = await run({ url: service.url, apiKey: shop.api_keys.test })
      assert.equal(outcome.status, 'completed')
      assert.ok(outcome.jobs.some((job) => job.job_id === outcome.jobId))
      assert.equal(outcome.unknownJob, 'not found: There is no job with this id.')
    })
  }

  for (const file of ['hey-api/types.gen.ts', 'orval-fetch.ts', 'schema.ts']) {
    it(`has one type for all errors: ${file}`, () => {
      const text = readFileSync(join(GENERATED, file), 'utf8')
      assert.equal(text.match(/\bcode: .*ErrorCode\b/g)?.length, 1)
      assert.doesNotMatch(text, /\bcode: '/)
      assert.doesNotMatch(text, /ListedJobStatus|JobErrorCode\w+ =/)
    })
  }

  it('accepts every example of a response: orval', async () => {
    const schemas = (await importFile('generated', 'zod.ts')) as ZodFile
    let parsed = 0
    for (const { place, path, operation } of operationsOf(document)) {
      if (!path.startsWith('/')) continue
      const name = operation.operationId.replace(/^./, (letter) => letter.toUpperCase())
      for (const [status, response] of Object.entries(operation.responses)) {
        const { content } = responseOf(document, response)
        for (const example of examplesOf(`${place} ${status}`, content)) {
          const schema = schemas[`${name}${status}Response`]
          assert.ok(schema, `${name}${status}Response`)
          assert.deepEqual(schema.parse(example.value), example.value, example.place)
          parsed++
        }
      }
    }
    assert.ok(parsed > 50)
  })
})

describe('the examples of requests', { skip }, () => {
  const send = (method: string, path: string, init: RequestInit = {}) =>
    fetch(`${service.url}${path}`, {
      ...init,
      method,
      headers: { Authorization: `Bearer ${shop.api_keys.test}`, ...init.headers },
    })

  it('succeed as they are with a test key', async () => {
    const body = JSON.stringify({ url: 'https://shop.example/hook' })
    const created = await send('POST', '/v1/webhook-endpoints', { body })
    const { id } = (await created.json()) as { id: string }
    for (const { place, method, path, operation } of operationsOf(document)) {
      for (const { name, value } of examplesOf(place, operation.requestBody?.content)) {
        if (!path.startsWith('/')) continue
        const address = path.replace('{endpointId}', id)
        const response = await send(method, address, { body: JSON.stringify(value) })
        assert.ok(response.ok, `${place} ${name}: ${await response.text()}`)
      }
      for (const { contentType, url } of fileExamplesOf(operation.requestBody?.content)) {
        const body = await (await fetch(url)).bytes()
        const response = await send(method, path, {
          body,
          headers: { 'Content-Type': contentType },
        })
        assert.ok(response.ok, `${place} ${url}: ${await response.text()}`)
      }
    }
  })

  it('succeed with the examples of all parameters', async () => {
    const { operation } = operationOf('listJobs')
    const query = new URLSearchParams()
    for (const { name, schema } of operation.parameters ?? []) {
      const value: unknown = schema['examples']?.[0] ?? schema['default']
      if (value !== undefined) query.set(name, `${value}`)
    }
    assert.deepEqual([...query.keys()], ['created_after', 'created_before', 'limit'])
    const list = await send('GET', `/v1/jobs?${query}`)
    assert.equal(list.status, 200, await list.text())

    const headers: Record<string, string> = {}
    const { place, operation: submit } = operationOf('submitTryOn')
    for (const { name, schema } of submit.parameters ?? []) {
      // Idempotency-Key has none: the viewer would send it, and a second request would be a replay.
      if (schema['examples']) headers[name] = schema['examples'][0]
    }
    assert.deepEqual(Object.keys(headers), ['Prefer'])
    const [images] = examplesOf(place, submit.requestBody?.content)
    const body = JSON.stringify(images?.value)
    const job = await send('POST', '/v1/tryon', { headers, body })
    assert.equal(job.status, 200, await job.text())
    assert.equal(job.headers.get('Preference-Applied'), 'wait=10')
  })

  it('are the requests of the Postman collection', async () => {
    assert.equal(readFileSync(COLLECTION_FILE, 'utf8'), await createCollection(), 'npm run postman')
    const { runCollection } = await loadOpenApiTools()
    const variables = { base_url: service.url, api_key: shop.api_keys.test }
    const sent = await runCollection(COLLECTION_FILE, variables, join(ROOT, 'samples'))
    assert.ok(sent.length > 20)
    assert.deepEqual(
      sent.flatMap(({ name, failures }) => failures.map((failure) => `${name}: ${failure}`)),
      [],
    )
    const rejected = sent.filter(({ status = 0 }) => status >= 300)
    // An attempt may be in progress.
    assert.deepEqual(
      rejected.filter(({ status, name }) => status !== 409 || !name.startsWith('Resend')),
      [],
    )
  })

  it('provoke the errors with the messages of the examples', async () => {
    const provoked = await provokeErrors(service)
    for (const { place, path, operation } of operationsOf(document)) {
      if (!path.startsWith('/')) continue
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue
        const { content } = responseOf(document, response)
        for (const { name, value } of examplesOf(place, content)) {
          const actual = provoked[`${operation.operationId} ${name}`] ?? provoked[name]
          assert.deepEqual(actual, { status: Number(status), body: value }, `${place} ${name}`)
        }
      }
    }
  })

  function operationOf(id: string) {
    const found = operationsOf(document).find(({ operation }) => operation.operationId === id)
    assert.ok(found, id)
    return found
  }
})
