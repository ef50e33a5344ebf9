// The OpenAPI document as the service serves it: linters, descriptions and examples.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Schema } from '@cfworker/json-schema'
import { hasOpenApiTools, loadOpenApiTools } from '../../scripts/openapi-tools.ts'
import {
  examplesOf,
  fileExamplesOf,
  operationsOf,
  problemsOf,
  readDocument,
  responseOf,
  type OpenApi,
} from './support/openapi.ts'
import { startService, type StartedService } from '../../scripts/test-service.ts'

let service: StartedService
let source: string
let document: OpenApi

before(async () => {
  // Redocly rejects a document whose server is localhost.
  service = await startService({
    BASE_URL: 'https://try-on.acme-shop.com',
    DEV_MAILBOX: 'false',
    ALLOW_PRIVATE_URLS: 'false',
  })
  ;({ source, document } = await readDocument(service.url))
})
after(() => service.close())

const hasTools = hasOpenApiTools()
const lint = async (text: string) => (await loadOpenApiTools()).lint(text)

describe('the OpenAPI document', () => {
  it('has no errors and no warnings', { skip: !hasTools }, async () => {
    assert.deepEqual(await lint(source), [])
  })

  it('has warnings without its license and tag descriptions', { skip: !hasTools }, async () => {
    const { info, ...rest } = JSON.parse(source)
    const { license: _, ...withoutLicense } = info
    const problems = await lint(JSON.stringify({ info: withoutLicense, ...rest, tags: [] }))
    assert.match(problems.join('\n'), /redocly info-license/)
    assert.match(problems.join('\n'), /spectral operation-tag-defined/)
  })

  it('describes everything in sentences', () => {
    const texts: [string, string | undefined][] = []
    for (const { place, operation } of operationsOf(document)) {
      texts.push([place, operation.description])
      for (const parameter of operation.parameters ?? []) {
        texts.push([`${place} ${parameter.name}`, parameter.description])
      }
      for (const [status, response] of Object.entries(operation.responses)) {
        texts.push([`${place} ${status}`, responseOf(document, response).description])
      }
    }
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      texts.push([name, schema.description])
      for (const [field, property] of Object.entries(schema.properties ?? {})) {
        texts.push([`${name}.${field}`, resolve(property).description])
      }
    }
    for (const [name, header] of Object.entries(document.components.headers)) {
      texts.push([name, header.description])
    }
    assert.ok(texts.length > 100)
    const bare = texts.filter(([, text]) => !text || text.length < 15 || !/[.)]$/.test(text))
    assert.deepEqual(bare, [])
  })

  it('has an example for every body and for each error code', () => {
    for (const { place, operation } of operationsOf(document)) {
      const { requestBody } = operation
      const bodies = [
        ...examplesOf(place, requestBody?.content),
        ...fileExamplesOf(requestBody?.content),
      ]
      assert.equal(bodies.length > 0, requestBody !== undefined, place)
      for (const [status, listed] of Object.entries(operation.responses)) {
        const { content, description } = responseOf(document, listed)
        if (!content) continue
        const names = examplesOf(place, content).map(({ name }) => name)
        assert.notDeepEqual(names, [], `${place} ${status}`)
        if (Number(status) < 400) continue
        const codes = [...description.matchAll(/\[`(\w+)`\]/g)].map(([, code]) => code)
        assert.deepEqual(names, codes, `${place} ${status}`)
      }
    }
  })

  it('has only valid examples', () => {
    const examples = operationsOf(document).flatMap(({ place, operation }) => [
      ...examplesOf(place, operation.requestBody?.content),
      ...Object.entries(operation.responses).flatMap(([status, response]) =>
        examplesOf(`${place} ${status}`, responseOf(document, response).content),
      ),
    ])
    for (const [name, { schema, example }] of Object.entries(document.components.headers)) {
      examples.push({ place: 'header', name, schema, value: example })
    }
    eachSchema(document, (schema) => {
      for (const value of schema['examples'] ?? []) {
        examples.push({ place: 'schema', name: `${schema.description}`, schema, value })
      }
    })
    assert.ok(examples.length > 80)
    for (const { place, name, schema, value } of examples) {
      assert.deepEqual(problemsOf(document, schema, value), [], `${place} ${name}`)
    }
  })

  it('has consistent examples of jobs', () => {
    const jobs = operationsOf(document)
      .flatMap(({ operation }) => [
        ...examplesOf('', operation.requestBody?.content),
        ...Object.values(operation.responses).flatMap((response) =>
          examplesOf('', responseOf(document, response).content),
        ),
      ])
      .flatMap(({ value }) => jobsIn(value))
    const seen = new Set(jobs.map(({ status }) => status))
    assert.deepEqual([...seen].toSorted(), [
      'cancelled',
      'completed',
      'failed',
      'processing',
      'refunded',
    ])
    for (const job of jobs) {
      const completed = job.status === 'completed'
      const failed = job.status === 'failed'
      assert.equal(job.output_url !== null, completed, job.status)
      assert.equal(job.completed_at !== null, completed, job.status)
      assert.equal(job.credits_consumed !== null, completed, job.status)
      assert.equal(job.error_code !== null, failed, job.status)
      assert.equal(job.duration_ms !== null, completed || failed, job.status)
    }
  })

  it('has an example for each type of event', () => {
    const [operation] = operationsOf({ ...document, paths: {} })
    const events = examplesOf('', operation?.operation.requestBody?.content)
    const type = document.components.schemas['WebhookEventType']
    assert.deepEqual(
      events.map(({ name }) => name),
      type?.enum,
    )
    for (const { name, value } of events) {
      assert.deepEqual(
        [name],
        jobsIn(value).map(({ status }) => `job.${status}`),
      )
    }
  })
})

interface ExampleJob {
  status: string
  output_url: string | null
  completed_at: string | null
  credits_consumed: number | null
  error_code: string | null
  duration_ms: number | null
}

/** The jobs in an example: the value itself, the `jobs` of a list, or the `data` of an event. */
function jobsIn(value: unknown): ExampleJob[] {
  if (typeof value !== 'object' || value === null) return []
  if ('completed_at' in value) return [value as ExampleJob]
  return Object.values(value).flatMap((child) =>
    Array.isArray(child) ? child.flatMap(jobsIn) : jobsIn(child),
  )
}

function resolve(schema: Schema | boolean): Schema {
  if (typeof schema === 'boolean') return {}
  const name = schema.$ref?.split('/').at(-1)
  if (name === undefined || schema.description) return schema
  return document.components.schemas[name] ?? {}
}

/** Calls `visit` for each schema with an array of examples. */
function eachSchema(value: unknown, visit: (schema: Schema) => void): void {
  if (typeof value !== 'object' || value === null) return
  if ('examples' in value && Array.isArray(value.examples)) visit(value)
  for (const child of Object.values(value)) eachSchema(child, visit)
}
