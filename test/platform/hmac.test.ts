// Compares signatures with those of node:crypto, which does not use the shared buffers.
import { env } from 'cloudflare:workers'
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signer, verify } from '../../src/platform/signing/hmac.ts'

const expected = (text: string) => {
  const key = createHmac('sha256', env.OUTPUT_SIGNING_SECRET).update('link').digest()
  return createHmac('sha256', key).update(text).digest('base64url')
}

/** Shorter and longer than the shared buffer of 512 bytes, with characters of 1 to 4 bytes. */
const TEXTS = [
  '',
  'a',
  'outputs/job_1.png\n1790000000',
  'ü€😀'.repeat(30),
  'x'.repeat(170),
  'x'.repeat(171),
  'y'.repeat(2_000),
]

describe('signer', () => {
  it.each(TEXTS)('signs %j like node:crypto', (text) => {
    expect(signer(env, 'link')(text)).toBe(expected(text))
  })

  it('does not mix concurrent calls, which share buffers', async () => {
    const sign = signer(env, 'link')
    const signatures = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const text = TEXTS[n % TEXTS.length]!
        await Promise.resolve()
        const first = sign(text)
        await scheduler.wait(n % 3)
        return [first, sign(text), expected(text)]
      }),
    )
    for (const [first, second, own] of signatures) expect([first, second]).toEqual([own, own])
  })

  it('returns strings and not promises: a call ends before the next one begins', () => {
    expect(signer(env, 'link')('a')).toBeTypeOf('string')
    expect(verify(env, 'link', 'a', expected('a'))).toBe(true)
  })

  it('signs for one purpose only', () => {
    expect(verify(env, 'cursor', 'a', expected('a'))).toBe(false)
  })
})
