/** One array with all parts in order. */
export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    result.set(part, at)
    at += part.length
  }
  return result
}

/** The bytes of a text. */
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
