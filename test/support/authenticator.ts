// A passkey authenticator in software: ES256 keys, attestation "none", user verification.
import { expect } from 'vitest'
import { BASE } from './client.ts'
import type { Browser, Page } from './browser.ts'

/** Where a response differs from that of an honest browser and authenticator. */
interface Flaws {
  origin?: string
  rpId?: string
  /** Instead of the one that the server sent. */
  challenge?: string
  type?: string
  counter?: number
  /** Without fingerprint, face or PIN. */
  unverified?: boolean
  /** Signs with another key. */
  forged?: boolean
}

export interface Authenticator {
  id: string
  /** The credential of a registration, as JSON text. */
  register(challenge: string, flaws?: Flaws): Promise<string>
  /** The credential of a sign-in, as JSON text. */
  sign(challenge: string, flaws?: Flaws): Promise<string>
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' }
const PRESENT = 0x01
const VERIFIED = 0x04
const HAS_KEY = 0x40

const newKey = async () => {
  const key = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  if (!('privateKey' in key)) throw new Error('expected a key pair')
  return key
}

/** A new passkey, not yet registered. Its counter starts at 1 and increases with each sign-in. */
export async function newAuthenticator(): Promise<Authenticator> {
  const { privateKey, publicKey } = await newKey()
  const rawId = crypto.getRandomValues(new Uint8Array(16))
  const id = base64url(rawId)
  let counter = 0

  async function authenticatorData(flaws: Flaws, more: Uint8Array = new Uint8Array()) {
    const hash = await sha256(new TextEncoder().encode(flaws.rpId ?? new URL(BASE).hostname))
    const flags = PRESENT | (flaws.unverified ? 0 : VERIFIED) | (more.length > 0 ? HAS_KEY : 0)
    const count = new Uint8Array(4)
    new DataView(count.buffer).setUint32(0, flaws.counter ?? ++counter)
    return join(hash, Uint8Array.of(flags), count, more)
  }

  const clientData = (type: string, challenge: string, flaws: Flaws) =>
    new TextEncoder().encode(
      JSON.stringify({
        type: flaws.type ?? type,
        challenge: flaws.challenge ?? challenge,
        origin: flaws.origin ?? BASE,
        crossOrigin: false,
      }),
    )

  const credential = (response: object) =>
    JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })

  return {
    id,
    async register(challenge, flaws = {}) {
      const { x = '', y = '' } = await jwkOf(publicKey)
      const coordinates = [x, y].map((text) =>
        Uint8Array.fromBase64(text, { alphabet: 'base64url' }),
      )
      const [xBytes = new Uint8Array(), yBytes = new Uint8Array()] = coordinates
      // COSE: kty EC2, alg ES256, crv P-256, x, y.
      const cose = join(
        Uint8Array.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21),
        cborBytes(xBytes),
        Uint8Array.of(0x22),
        cborBytes(yBytes),
      )
      const length = Uint8Array.of(0, rawId.length)
      const data = await authenticatorData(flaws, join(new Uint8Array(16), length, rawId, cose))
      const attestation = join(
        Uint8Array.of(0xa3),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Uint8Array.of(0xa0),
        cborText('authData'),
        cborBytes(data),
      )
      return credential({
        clientDataJSON: base64url(clientData('webauthn.create', challenge, flaws)),
        attestationObject: base64url(attestation),
      })
    },
    async sign(challenge, flaws = {}) {
      const data = await authenticatorData(flaws)
      const client = clientData('webauthn.get', challenge, flaws)
      const signed = join(data, await sha256(client))
      const key = flaws.forged ? (await newKey()).privateKey : privateKey
      const raw = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, signed)
      return credential({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(derSignature(new Uint8Array(raw))),
      })
    },
  }
}

async function jwkOf(key: CryptoKey): Promise<{ x?: string; y?: string }> {
  const jwk = await crypto.subtle.exportKey('jwk', key)
  if (jwk instanceof ArrayBuffer) throw new Error('expected a JWK')
  return jwk
}

/** Requests options and returns their challenge. */
export async function challengeOf(browser: Browser, path: string): Promise<string> {
  const page = await browser.post(path)
  expect(page.status).toBe(200)
  const { challenge } = JSON.parse(page.source) as { challenge: string }
  return challenge
}

/** Adds a passkey to the account of the signed-in user. */
export async function addPasskey(
  browser: Browser,
  authenticator: Authenticator,
  { name = 'Laptop', flaws = {} }: { name?: string; flaws?: Flaws } = {},
): Promise<Page> {
  const challenge = await challengeOf(browser, '/console/account/passkeys/options')
  return browser.post('/console/account/passkeys', {
    passkey_name: name,
    credential: await authenticator.register(challenge, flaws),
  })
}

/** Signs in with a passkey. */
export async function signInWithPasskey(
  browser: Browser,
  authenticator: Authenticator,
  flaws: Flaws = {},
): Promise<Page> {
  const challenge = await challengeOf(browser, '/console/sign-in/passkey/options')
  const credential = await authenticator.sign(challenge, flaws)
  return browser.post('/console/sign-in/passkey', { credential })
}

const base64url = (bytes: Uint8Array) =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

const sha256 = async (bytes: Uint8Array) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

const join = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]))

const cborText = (text: string) =>
  join(Uint8Array.of(0x60 + text.length), new TextEncoder().encode(text))

const cborBytes = (bytes: Uint8Array) => join(Uint8Array.of(0x58, bytes.length), bytes)

/** Web Crypto returns r and s; WebAuthn signatures are DER. */
function derSignature(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0)
    const trimmed = bytes.slice(start)
    const positive = (trimmed[0] ?? 0) >= 0x80 ? join(Uint8Array.of(0), trimmed) : trimmed
    return join(Uint8Array.of(0x02, positive.length), positive)
  }
  const content = join(integer(raw.slice(0, 32)), integer(raw.slice(32)))
  return join(Uint8Array.of(0x30, content.length), content)
}
