import { jwtVerify } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { VertexSettings, createVertex } from '../../src/engines/vertex.ts'
import {
  SECRET,
  STARTS,
  TOKEN_URL,
  privateKeyPem,
  publicKey,
  tokenResponse,
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

describe('vertex.start', () => {
  it('sends both images and a token, and returns the picture', async () => {
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, predicted())
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
    ['an empty response', {}],
  ])('rejects a prediction filtered with %s', async (_, body) => {
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, json(body))
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
  ])('maps %d %s, %s, to %s', async (status, name, message, code, retriable) => {
    const error = { error: { code: status, message, status: name } }
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, json(error, status))
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code,
      retriable,
      work: status < 500 ? 'refused' : 'ambiguous',
    })
  })

  it('fails when the output is not a picture', async () => {
    const response = json({ predictions: [{ bytesBase64Encoded: btoa('not a picture') }] })
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, response)
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code: 'generation_failed',
    })
  })
})

describe('vertex.start, with an image that Google does not accept', () => {
  const large = () => {
    const bytes = new Uint8Array(7_000_001)
    bytes.set(jpeg())
    return checkedImage('model', bytes)
  }

  it.each([
    ['WebP', webp],
    ['above 7 MB', large],
  ])('leaves %s to another engine without a request', async (_, model) => {
    const started = createVertex(vertexSettings()).start(engineInput({ model: model() }))
    await expect(started).rejects.toMatchObject({
      code: 'engine_unavailable',
      retriable: true,
      work: 'refused',
    })
  })

  it('scales the image when the [images] binding exists', async () => {
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, predicted())
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
  it('is exchanged for an assertion signed by the service account', async () => {
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, predicted())
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

  it('is cached until shortly before it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
    try {
      const engine = createVertex(vertexSettings())
      provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, predicted())
      await engine.start(engineInput())
      vi.setSystemTime(1_000_000 + 54 * 60_000)
      provider.on('POST', PREDICT, predicted())
      await engine.start(engineInput())
      vi.setSystemTime(1_000_000 + 55 * 60_000)
      provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, predicted())
      await engine.start(engineInput())
    } finally {
      vi.useRealTimers()
    }
  })

  it('is replaced after Google rejected it', async () => {
    const engine = createVertex(vertexSettings())
    const rejection = json({ error: { code: 401, status: 'UNAUTHENTICATED', message: 'x' } }, 401)
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, rejection)
    await expect(engine.start(engineInput())).rejects.toMatchObject({ code: 'engine_unavailable' })
    provider.on('POST', TOKEN_URL, tokenResponse()).on('POST', PREDICT, predicted())
    await engine.start(engineInput())
  })

  it.each([
    ['a rejection', () => json({ error: 'invalid_grant', error_description: 'x' }, 400)],
    ['a lost connection', () => new TypeError('network')],
    ['an unexpected response', () => json({ token: 1 })],
  ])('allows another start after %s', async (_, reply) => {
    provider.on('POST', TOKEN_URL, reply())
    await expect(createVertex(vertexSettings()).start(engineInput())).rejects.toMatchObject({
      code: 'engine_unavailable',
      retriable: true,
      work: 'refused',
    })
  })

  it('requires a valid key, and does not include it in the error', async () => {
    const private_key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n'
    const engine = createVertex(vertexSettings({ private_key }))
    const thrown = await engine.start(engineInput()).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 'engine_unavailable', work: 'refused', cause: undefined })
    expect(String(thrown)).not.toContain('c2VjcmV0')
  })
})

it.each([
  ['malformed JSON', 'nonsense'],
  ['an empty service account', '{}'],
  ['a token endpoint over http', { token_uri: 'http://elsewhere.example/token' }],
])('VertexSettings rejects %s', (_, account) => {
  const valid = { client_email: 'a@b.example', private_key: privateKeyPem }
  const text = typeof account === 'string' ? account : JSON.stringify({ ...valid, ...account })
  const settings = { VERTEX_PROJECT: 'p', VERTEX_SERVICE_ACCOUNT: text }
  expect(VertexSettings.safeParse(settings).success).toBe(false)
})
