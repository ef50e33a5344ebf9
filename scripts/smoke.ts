// `npm run smoke -- --url https://… [--key …] [--webhook https://…]`: uses a running service as a customer does, after a
// deployment: a test job, its webhook, a cancellation, an upload, a live job of uploads and its signed picture.
//   --url URL      the service
//   --key KEY      an API key; once for each mode. Also TRY_ON_TEST_KEY and TRY_ON_LIVE_KEY, which no list of
//                  processes shows. Checks of a mode without a key are skipped.
//   --webhook URL  a receiver that answers 2xx. Default for a service on this computer: one that it starts.
// Prints a line for each check. The exit code is 1 if one failed, and 2 for wrong arguments.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { TryOnClient, type Mode } from '../packages/client/src/index.ts'
import { ArgumentsError, isLoopback, serviceUrl } from './service-url.ts'
import { ROOT } from './wrangler.ts'

const JOB_TIMEOUT_MS = 120_000
const POLL_MS = 500
const REQUEST_TIMEOUT_MS = 15_000
/** A scenario of test mode: the job stays pending until it is cancelled. */
const PENDING = 'https://test.invalid/pending/60'
const PICTURES = ['model.jpg', 'garment.jpg'] as const

interface Options {
  args: string[]
  env: Record<string, string | undefined>
  print: (line: string) => void
}

/** A check that does not apply. */
class Skipped extends Error {}

/**
 * Runs all checks, each one even if an earlier one failed.
 * @returns whether none failed
 * @throws ArgumentsError for wrong arguments, before any request
 */
export async function smoke({ args, env, print }: Options): Promise<boolean> {
  const { url, clients, webhook } = readArguments(args, env)
  const client = (mode: Mode): TryOnClient => {
    const found = clients.get(mode)
    if (!found) throw new Skipped(`no ${mode} key`)
    return found
  }
  let picture: string | undefined

  const checks: Record<string, () => Promise<string>> = {
    health: async () => {
      const response = await fetch(`${url}/health`, timeLimit())
      const text = await response.text()
      if (!response.ok) throw new Error(`${response.status}: ${text.slice(0, 200)}`)
      return text
    },
    'test job': async () => {
      const job = await client('test').tryOn.run(samplesOf(url), { timeoutMs: JOB_TIMEOUT_MS })
      return job.job_id
    },
    webhook: async () => {
      const receiver = await receiverFor(url, webhook)
      try {
        const { tryOn, jobs } = client('test')
        const submitted = await tryOn.submit({ ...samplesOf(url), webhook_url: receiver.url })
        // The event log of the job.
        const { webhook_status: status } = await until('the delivery', async () => {
          const job = await jobs.get(submitted.job_id)
          if (job.webhook_status === 'failed') throw new Error(`the delivery failed: ${job.job_id}`)
          return job.webhook_status === 'delivered' ? job : undefined
        })
        receiver.check(submitted.job_id)
        return `${status} ${submitted.job_id}`
      } finally {
        receiver.close()
      }
    },
    cancellation: async () => {
      const { tryOn, jobs } = client('test')
      const { job_id } = await tryOn.submit({ ...samplesOf(url), model_image_url: PENDING })
      const { status } = await jobs.cancel(job_id)
      if (status !== 'refunded') throw new Error(`${job_id} is ${status}`)
      return job_id
    },
    'upload and live job': async () => {
      const { uploads, tryOn } = client('live')
      const [model, garment] = await Promise.all(
        PICTURES.map((name) => uploads.create(readFileSync(join(ROOT, 'samples', name)))),
      )
      const job = await tryOn.run(
        { model_image_url: model?.url ?? '', garment_image_url: garment?.url ?? '' },
        { timeoutMs: JOB_TIMEOUT_MS },
      )
      picture = job.output_url
      return `${job.job_id}, ${job.credits_consumed} credits`
    },
    'signed picture': async () => {
      client('live')
      if (picture === undefined) throw new Error('the live job has none')
      const signed = await fetch(picture, timeLimit())
      const bytes = (await signed.arrayBuffer()).byteLength
      const type = signed.headers.get('Content-Type') ?? ''
      if (!signed.ok || !type.startsWith('image/')) throw new Error(`${signed.status} ${type}`)
      const forged = await fetch(withoutSignature(picture), timeLimit())
      await forged.body?.cancel()
      if (forged.ok) throw new Error('the picture is readable without its signature')
      return `${type}, ${bytes} bytes`
    },
  }

  let hasFailed = false
  for (const [name, check] of Object.entries(checks)) {
    const startedAt = performance.now()
    const result = await check().then(
      (detail) => ['passed', detail],
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        if (error instanceof Skipped) return ['skipped', message]
        hasFailed = true
        return ['FAILED', message]
      },
    )
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    const [status = '', detail = ''] = result
    print(`${status.padEnd(7)}  ${name.padEnd(19)}  ${seconds.padStart(5)} s  ${detail}`)
  }
  return !hasFailed
}

function readArguments(args: string[], env: Options['env']) {
  const options = {
    url: { type: 'string' },
    key: { type: 'string', multiple: true },
    webhook: { type: 'string' },
  } as const
  const { values } = ArgumentsError.during(() => parseArgs({ args, options }))
  const url = serviceUrl(values.url)
  const given = [...(values.key ?? []), env['TRY_ON_TEST_KEY'], env['TRY_ON_LIVE_KEY']]
  const clients = new Map<Mode, TryOnClient>()
  for (const apiKey of given.filter((key) => key !== undefined && key !== '')) {
    const mode = /^svc_(test|live)_sk_/.exec(apiKey ?? '')?.[1]
    if (mode !== 'test' && mode !== 'live') {
      throw new ArgumentsError('A key must start with svc_test_sk_ or svc_live_sk_.')
    }
    if (!clients.has(mode)) clients.set(mode, new TryOnClient({ apiKey, baseUrl: url }))
  }
  if (clients.size === 0) throw new ArgumentsError('Pass --key, or set TRY_ON_TEST_KEY.')
  return { url, clients, webhook: values.webhook || undefined }
}

const timeLimit = () => ({ signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })

const samplesOf = (url: string) => ({
  model_image_url: `${url}/static/model.jpg`,
  garment_image_url: `${url}/static/garment.jpg`,
})

function withoutSignature(picture: string): string {
  const url = new URL(picture)
  for (const name of Array.from(url.searchParams.keys())) url.searchParams.set(name, '1')
  return url.href
}

/** Polls until `read` returns a value. @throws Error after a time limit */
async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const endsAt = Date.now() + JOB_TIMEOUT_MS
  while (Date.now() < endsAt) {
    const value = await read()
    if (value !== undefined) return value
    await wait(POLL_MS)
  }
  throw new Error(`${what} did not end in ${JOB_TIMEOUT_MS / 1_000} s`)
}

/** Where the webhook goes: the given receiver, or one on this computer that remembers what it received. */
async function receiverFor(url: string, webhook: string | undefined) {
  if (webhook !== undefined) return { url: webhook, check: () => {}, close: () => {} }
  if (!isLoopback(url)) throw new Skipped('pass --webhook with a receiver that answers 2xx')
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(body)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    check(jobId: string) {
      if (!bodies.some((body) => body.includes(jobId))) throw new Error('the receiver got nothing')
    },
    close: () => void server.close(),
  }
}

if (import.meta.main) {
  try {
    const passed = await smoke({
      args: process.argv.slice(2),
      env: process.env,
      print: console.log,
    })
    process.exitCode = passed ? 0 : 1
  } catch (error) {
    if (!(error instanceof ArgumentsError)) throw error
    console.error(`${error.message}\nUsage: npm run smoke -- --url URL --key KEY [--webhook URL]`)
    process.exitCode = 2
  }
}
