// Properties of pure functions: the rate window, page cursors, keys, signatures and instants.
import { presentAuditEntry } from '../../src/operator/present-operator.ts'
import * as fc from 'fast-check'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { createCursor, startOf } from '../../src/api/cursor.ts'
import { signer } from '../../src/platform/signing/hmac.ts'
import { newId } from '../../src/platform/ids.ts'
import { createKey, parseKey } from '../../src/credits/api-key.ts'
import { RateWindow } from '../../src/credits/rate-window.ts'
import { checkLink, signedUrl } from '../../src/platform/signing/signed-url.ts'
import { request } from '../support/client.ts'
import { newOrganisation, type JobJson, type TestOrganisation } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

const WINDOW_MS = 60_000

describe('the rate window', () => {
  const request = fc.record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 90_000 })),
    limit: fc.integer({ min: 1, max: 6 }),
  })

  it('matches a count of all requests in the last 60 seconds', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 200 }), (requests) => {
        const window = new RateWindow()
        const passed: number[] = []
        let now = 1_000_000
        for (const { afterMs, limit } of requests) {
          now += afterMs
          const countAt = (at: number) => passed.filter((one) => one > at - WINDOW_MS).length
          const expected = countAt(now) < limit
          const result = window.take(limit, now)
          if (expected) passed.push(now)
          expect(result.passed).toBe(expected)
          expect(result.remaining).toBe(Math.max(0, limit - countAt(now)))
          let seconds = 0
          while (countAt(now + seconds * 1_000) >= limit) seconds++
          expect(result.resetSeconds).toBe(seconds)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('limits twice the allowed rate to 6,000 per minute for ten minutes', () => {
    const window = new RateWindow()
    const passed: number[] = []
    for (let now = 0; now < 600_000; now += 5) {
      if (window.take(6_000, now).passed) passed.push(now)
    }
    expect(passed.length).toBe(60_000)
    for (let at = 6_000; at < passed.length; at++) {
      expect(passed[at]! - passed[at - 6_000]!).toBeGreaterThanOrEqual(WINDOW_MS)
    }
  })
})

describe('pagination', () => {
  it('returns each initial job once, newest first, during concurrent changes', async () => {
    const change = fc.constantFrom('insert', 'end', 'other' as const)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 25 }),
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 30 }),
        async (count, limit, changes) => {
          const shop = await newOrganisation()
          const other = await newOrganisation()
          const initial: string[] = []
          for (let n = 0; n < count; n++) initial.unshift(await insertJob(shop))
          const seen: string[] = []
          let cursor: string | null = null
          do {
            const query: string = cursor === null ? '' : `&cursor=${cursor}`
            const response = await shop.test.get(`/v1/jobs?limit=${limit}${query}`)
            const page = await response.json<{ jobs: JobJson[]; next_cursor: string | null }>()
            seen.push(...page.jobs.map(({ job_id }) => job_id))
            cursor = page.next_cursor
            for (const change of changes.pop() ?? []) {
              if (change === 'insert') await insertJob(shop)
              if (change === 'other') await insertJob(other)
              if (change === 'end') await endOldest(shop)
            }
          } while (cursor !== null)
          expect(seen).toEqual(initial)
        },
      ),
      { numRuns: 10 },
    )
  }, 30_000)
})

async function insertJob({ orgId, workspaceId }: TestOrganisation): Promise<string> {
  const id = newId('job')
  await jobsDb(orgId)
    .prepare(
      `INSERT INTO jobs (id, organisation_id, workspace_id, mode, status, model_image_url,
                       garment_image_url, base_url, created_at, due_at, sweep_at)
     VALUES (?, ?, ?, 'test', 'pending', '', '', '', 0, 9999999999999, 9999999999999)`,
    )
    .bind(id, orgId, workspaceId)
    .run()
  return id
}

const endOldest = ({ orgId }: TestOrganisation) =>
  jobsDb(orgId)
    .prepare(
      `UPDATE jobs SET status = 'refunded', sweep_at = 0 WHERE id = (SELECT id FROM jobs
       WHERE organisation_id = ? AND status = 'pending' ORDER BY id LIMIT 1)`,
    )
    .bind(orgId)
    .run()

/** Selects one bit of a text. */
const flip = fc.record({ at: fc.nat(), bit: fc.integer({ min: 0, max: 6 }) })

function flipped(text: string, { at, bit }: { at: number; bit: number }): string {
  const index = at % text.length
  const code = text.charCodeAt(index) ^ (1 << bit)
  return text.slice(0, index) + String.fromCharCode(code) + text.slice(index + 1)
}

describe('one flipped bit', () => {
  it('makes an API key malformed', async () => {
    await fc.assert(
      fc.asyncProperty(flip, fc.constantFrom('live', 'test' as const), async (where, mode) => {
        const key = createKey(newId('org'), mode)
        expect(parseKey(key)).not.toBeNull()
        expect(parseKey(flipped(key, where))).toBeNull()
      }),
      { numRuns: 500 },
    )
  })

  it('invalidates a signed URL', async () => {
    const key = `outputs/${newId('job')}.png`
    await env.IMAGES.put(key, 'picture')
    const url = signedUrl(env, '', key)
    expect((await request(url)).status).toBe(200)
    await fc.assert(
      fc.asyncProperty(flip, async (where) => {
        const response = await request(`/${flipped(url.slice(1), where)}`)
        expect([403, 404]).toContain(response.status)
      }),
      { numRuns: 300 },
    )
  })

  it('invalidates a cursor', async () => {
    const list = [newId('org'), null, null]
    const jobId = newId('job')
    const cursor = createCursor(env, list, jobId)
    expect(startOf(env, list, cursor)).toBe(jobId)
    await fc.assert(
      fc.asyncProperty(flip, async (where) => {
        expect(() => startOf(env, list, flipped(cursor, where))).toThrow('cursor must be')
      }),
      { numRuns: 300 },
    )
  })
})

describe('a signature', () => {
  const encoder = new TextEncoder()
  async function hmac(key: ArrayBuffer | ArrayBufferView, text: string) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign'])
    return await crypto.subtle.sign('HMAC', imported, encoder.encode(text))
  }

  it('equals the HMAC of Web Crypto for short and long texts', async () => {
    const key = await hmac(encoder.encode(env.OUTPUT_SIGNING_SECRET), 'link')
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.string({ unit: 'binary', minLength: 100, maxLength: 2_000, size: 'max' }),
    )
    await fc.assert(
      fc.asyncProperty(text, async (signed) => {
        const expected = Buffer.from(await hmac(key, signed)).toString('base64url')
        expect(signer(env, 'link')(signed)).toBe(expected)
      }),
      { numRuns: 300 },
    )
  })
})

describe('an instant', () => {
  it('is presented in ISO 8601, UTC, to the millisecond', () => {
    const entry = {
      id: 'aud_1',
      organisationId: 'org_1',
      actorType: 'system' as const,
      actorId: null,
      actorEmail: null,
      action: 'organisation.created',
      target: null,
      details: null,
      ipAddress: null,
    }
    const max = new Date('9999-12-31T23:59:59.999Z')
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max, noInvalidDate: true }), (at) => {
        const presented = presentAuditEntry({ ...entry, at }).at
        expect(presented).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        expect(Date.parse(presented)).toBe(at.getTime())
      }),
      { numRuns: 500 },
    )
  })
})

describe('the signing secret', () => {
  it('can be rotated without invalidating issued links and cursors', async () => {
    const [old, next] = ['a'.repeat(32), 'b'.repeat(32)]
    const before = { ...env, OUTPUT_SIGNING_SECRET: old }
    const during = { ...before, OUTPUT_SIGNING_SECRET: next, OUTPUT_SIGNING_SECRET_PREVIOUS: old }
    const after = { ...env, OUTPUT_SIGNING_SECRET: next }
    // A deployment that accepts the next secret before it is used.
    const prepared = { ...before, OUTPUT_SIGNING_SECRET_PREVIOUS: next }
    const check = (verifier: Env, signer: Env) => {
      const query = new URL(signedUrl(signer, 'https://x.test', 'outputs/a.png')).searchParams
      const [expires, signature] = [query.get('expires') ?? '', query.get('signature') ?? '']
      return checkLink(verifier, 'outputs/a.png', expires, signature)
    }
    expect(check(prepared, before)).toBeNull()
    expect(check(prepared, during)).toBeNull()
    expect(check(during, prepared)).toBeNull()
    expect(check(after, during)).toBeNull()
    expect(check(after, before)).toBe('invalid_signature')
  })

  it('signs links that expire after one hour', async () => {
    const query = new URL(signedUrl(env, 'https://x.test', 'outputs/a.png')).searchParams
    const [expires, signature] = [query.get('expires') ?? '', query.get('signature') ?? '']
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_599_000 })
    expect(checkLink(env, 'outputs/a.png', expires, signature)).toBeNull()
    vi.setSystemTime(Date.now() + 2_000)
    expect(checkLink(env, 'outputs/a.png', expires, signature)).toBe('url_expired')
    vi.useRealTimers()
  })
})
