// What is stored of a receiver's response: the start of its body and its first headers.

const STORED_BODY_BYTES = 1_024
const STORED_HEADERS = 20
/** Of all headers together, as JSON in UTF-8. */
const STORED_HEADERS_BYTES = 1_000
/** Headers that may contain a secret of the receiver. */
const OMITTED_HEADERS = new Set(['set-cookie', 'authorization', 'proxy-authorization'])

/** The first headers within the limits, in order. */
export function firstHeaders(headers: Headers): [string, string][] {
  const stored: [string, string][] = []
  let bytes = 2
  for (const [name, value] of headers) {
    if (OMITTED_HEADERS.has(name)) continue
    bytes += new TextEncoder().encode(JSON.stringify([name, value])).length + 1
    if (stored.length === STORED_HEADERS || bytes > STORED_HEADERS_BYTES) break
    stored.push([name, value])
  }
  return stored
}

/** The first `STORED_BODY_BYTES` of a body as text of at most this length in UTF-8; null when it has none. */
export async function firstBytes(response: Response): Promise<string | null> {
  if (!response.body) return null
  const bytes = new Uint8Array(STORED_BODY_BYTES)
  let length = 0
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    const part = chunk.subarray(0, STORED_BODY_BYTES - length)
    bytes.set(part, length)
    length += part.byteLength
    if (length === STORED_BODY_BYTES) break // leaving the loop cancels the body
  }
  const text = new TextDecoder().decode(bytes.subarray(0, length))
  // Decoding replaces an invalid byte by three.
  return text.slice(0, new TextEncoder().encodeInto(text, bytes).read)
}
