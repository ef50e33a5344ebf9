import { jwtVerify } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { VertexSettings, createVertex } from '../../src/engines/vertex.ts'
import {
  SECRET,
  STARTS,
  TOKEN_URL,
  privateKeyPem,
  publicKey,
  tokenAnswer,
  vertexSettings,
} from '../support/engines.ts'
import { checkedImage, engineInput, jpeg, png } from '../support/picture.ts'
import { fakeProvider, json } from '../support/provider.ts'

const provider = fakeProvider()
const PREDICT = STARTS[3][2]

const predicted = () =>
  json({ predictions: [{ mimeType: 'image/png', bytesBase64Encoded: png().toBase64() }] })

const webp = () =>
  checkedImage('model', Uint8Array.from(new TextEncoder().encode('RIFF....WEBP')), 'webp')

describe('a prediction', () => {
  it('carries both pictures and a token, and answers with the picture', async () => {
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, predicted())
    expect(await createVertex(vertexSettings()).start(engineInput())).toEqual({
      done: true,
      image: { bytes: png(), format: 'png' },
    })
    const image = { bytesBase64Encoded: jpeg().toBase64(), mimeType: 'image/jpeg' }
    expect(provider.seen[1]).toMatchObject({
      headers: { authorization: `Bearer ${SECRET}` },
      body: {
        instances: [{ personImage: { image }, productImages: [{ image }] }],
        parameters: {
          sampleCount: 1,
          outputOptions: { mimeType: 'image/jpeg', compressionQuality: 95 },
        },
      },
    })
  })

  it.each([
    ['a reason', { predictions: [{ raiFilteredReason: 'Support codes: 58061214' }] }],
    ['no prediction', { predictions: [] }],
    ['nothing at all', {}],
  ])('filtered with %s is rejected for good', async (_, answer) => {
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, json(answer))
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code: 'generation_rejected',
      retriable: false,
      work: 'over',
    })
  })

  it.each([
    [400, 'INVALID_ARGUMENT', 'Image is too small.', 'generation_failed', true],
    [400, 'INVALID_ARGUMENT', 'It violates our usage guidelines.', 'generation_rejected', false],
    [400, 'FAILED_PRECONDITION', 'Billing is off.', 'engine_unavailable', true],
    [403, 'PERMISSION_DENIED', 'No.', 'engine_unavailable', true],
    [429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', 'engine_unavailable', true],
    [504, 'DEADLINE_EXCEEDED', 'Late.', 'generation_timeout', true],
  ])('%d %s, %s, is %s', async (status, name, message, code, retriable) => {
    const error = { error: { code: status, message, status: name } }
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, json(error, status))
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code,
      retriable,
      work: status < 500 ? 'refused' : 'ambiguous',
    })
  })

  it('that is no picture fails', async () => {
    const answer = json({ predictions: [{ bytesBase64Encoded: btoa('no picture') }] })
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, answer)
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code: 'generation_failed',
    })
  })
})

describe('a picture that Google does not take', () => {
  const large = () => {
    const bytes = new Uint8Array(7_000_001)
    bytes.set(jpeg())
    return checkedImage('model', bytes)
  }

  it.each([
    ['WebP', webp],
    ['above 7 MB', large],
  ])('%s is left to another engine, before anything is sent', async (_, model) => {
    const started = createVertex(vertexSettings()).start(engineInput({ model: model() }))
    await expect(started).rejects.toMatchObject({
      code: 'engine_unavailable',
      retriable: true,
      work: 'refused',
    })
  })

  it('is scaled when there is a scaler', async () => {
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, predicted())
    const scale = vi.fn(async () => new Blob([jpeg(8, 9)]))
    await createVertex(vertexSettings(), scale).start(engineInput({ model: webp() }))
    expect(scale).toHaveBeenCalledExactlyOnceWith(webp().bytes, 2048)
    expect(provider.seen[1]?.body).toMatchObject({
      instances: [
        {
          personImage: {
            image: { bytesBase64Encoded: jpeg(8, 9).toBase64(), mimeType: 'image/jpeg' },
          },
        },
      ],
    })
  })
})

describe('the access token', () => {
  it('is bought with an assertion signed by the service account', async () => {
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, predicted())
    await createVertex(vertexSettings()).start(engineInput())
    const form = new URLSearchParams(String(provider.seen[0]?.body))
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
      issuer: 'try-on@our-project.iam.gserviceaccount.com',
      audience: TOKEN_URL,
    })
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' })
    expect(payload.scope).toBe('https://www.googleapis.com/auth/cloud-platform')
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600)
  })

  it('is kept until shortly before it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
    try {
      const engine = createVertex(vertexSettings())
      provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, predicted())
      await engine.start(engineInput())
      vi.setSystemTime(1_000_000 + 54 * 60_000)
      provider.on('POST', PREDICT, predicted())
      await engine.start(engineInput())
      vi.setSystemTime(1_000_000 + 55 * 60_000)
      provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, predicted())
      await engine.start(engineInput())
    } finally {
      vi.useRealTimers()
    }
  })

  it('is bought anew after Google refused it', async () => {
    const engine = createVertex(vertexSettings())
    const rejection = json({ error: { code: 401, status: 'UNAUTHENTICATED', message: 'x' } }, 401)
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, rejection)
    await expect(engine.start(engineInput())).rejects.toMatchObject({ code: 'engine_unavailable' })
    provider.on('POST', TOKEN_URL, tokenAnswer()).on('POST', PREDICT, predicted())
    await engine.start(engineInput())
  })

  it.each([
    ['refused', () => json({ error: 'invalid_grant', error_description: 'x' }, 400)],
    ['lost', () => new TypeError('network')],
    ['unreadable', () => json({ token: 1 })],
  ])('that is %s cost nothing, so another start is free', async (_, reply) => {
    provider.on('POST', TOKEN_URL, reply())
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code: 'engine_unavailable',
      retriable: true,
      work: 'refused',
    })
  })

  it('needs a key that can sign, and never quotes it', async () => {
    const private_key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'
    const engine = createVertex(vertexSettings({ private_key }))
    const thrown = await engine.start(engineInput()).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 'engine_unavailable', work: 'refused', cause: undefined })
    expect(String(thrown)).not.toContain('c2VjcmV0')
  })
})

it.each([
  ['no JSON', 'nonsense'],
  ['no account', '{}'],
  ['a foreign token endpoint over http', { token_uri: 'http://elsewhere.example/token' }],
])('settings with %s are refused', (_, account) => {
  const whole = { client_email: 'a@b.example', private_key: privateKeyPem }
  const text = typeof account === 'string' ? account : JSON.stringify({ ...whole, ...account })
  const settings = { VERTEX_PROJECT: 'p', VERTEX_SERVICE_ACCOUNT: text }
  expect(VertexSettings.safeParse(settings).success).toBe(false)
})
