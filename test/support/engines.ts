// Every engine with an HTTP provider, with test settings and the requests that precede a start.
import { FalSettings, createFal } from '../../src/engines/fal.ts'
import { FashnSettings, createFashn } from '../../src/engines/fashn.ts'
import { ReplicateSettings, createReplicate } from '../../src/engines/replicate.ts'
import { VertexSettings, createVertex } from '../../src/engines/vertex.ts'
import { json, type FakeProvider } from './provider.ts'

export const SECRET = 's3cret-key'
export const TOKEN_URL = 'https://oauth2.googleapis.com/token'

export const fashn = (change: Record<string, string> = {}) =>
  createFashn(FashnSettings.parse({ FASHN_API_KEY: SECRET, ...change }))
export const fal = (change: Record<string, string> = {}) =>
  createFal(FalSettings.parse({ FAL_KEY: SECRET, ...change }))
export const replicate = (change: Record<string, string> = {}) =>
  createReplicate(ReplicateSettings.parse({ REPLICATE_API_TOKEN: SECRET, ...change }))

const pair = await crypto.subtle.generateKey(
  {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
  true,
  ['sign', 'verify'],
)
if (!('privateKey' in pair)) throw new Error('Expected a key pair')
const pkcs8 = await crypto.subtle.exportKey('pkcs8', pair.privateKey)
if (!(pkcs8 instanceof ArrayBuffer)) throw new Error('Expected PKCS 8 as bytes')

export const publicKey = pair.publicKey
export const privateKeyPem = `-----BEGIN PRIVATE KEY-----\n${new Uint8Array(pkcs8).toBase64()}\n-----END PRIVATE KEY-----\n`

export const vertexSettings = (account: Record<string, string> = {}) =>
  VertexSettings.parse({
    VERTEX_PROJECT: 'our-project',
    VERTEX_LOCATION: 'europe-west4',
    VERTEX_SERVICE_ACCOUNT: JSON.stringify({
      type: 'service_account',
      client_email: 'try-on@our-project.iam.gserviceaccount.com',
      private_key_id: 'k1',
      private_key: privateKeyPem,
      ...account,
    }),
  })

export const tokenResponse = () =>
  json({ access_token: SECRET, expires_in: 3599, token_type: 'Bearer' })

const nothing = () => {}

/** For each engine: its name, a new engine, the URL of its start, and the requests before it. */
export const STARTS = [
  ['fashn', fashn, 'https://api.fashn.ai/v1/run', nothing],
  ['fal', fal, 'https://queue.fal.run/fal-ai/fashn/tryon/v1.6', nothing],
  ['replicate', replicate, 'https://api.replicate.com/v1/predictions', nothing],
  [
    'vertex',
    () => createVertex(vertexSettings()),
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/our-project/locations/europe-west4/publishers/google/models/virtual-try-on-001:predict',
    (provider: FakeProvider) => void provider.on('POST', TOKEN_URL, tokenResponse()),
  ],
] as const

const startedAtMs = 0
const FAL_URL = 'https://queue.fal.run/fal-ai/fashn/requests/r1'
export const FAL_HANDLE = JSON.stringify({
  status_url: `${FAL_URL}/status`,
  response_url: FAL_URL,
  cancel_url: `${FAL_URL}/cancel`,
  startedAtMs,
})

/** For each engine with a queue: its name, a new engine, a handle, and the URL of its poll. */
export const POLLS = [
  [
    'fashn',
    fashn,
    JSON.stringify({ id: 'p-1', startedAtMs }),
    'https://api.fashn.ai/v1/status/p-1',
  ],
  ['fal', fal, FAL_HANDLE, `${FAL_URL}/status`],
  [
    'replicate',
    replicate,
    JSON.stringify({ id: 'p1', startedAtMs }),
    'https://api.replicate.com/v1/predictions/p1',
  ],
] as const
