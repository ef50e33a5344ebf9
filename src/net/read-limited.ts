/**
 * Reads a body to its end, holding never more than one chunk over `maxBytes`.
 * @param announced the Content-Length that came with it, if one did: too much is not even begun
 * @returns null, with the body cancelled, as soon as it proves longer
 */
export async function readLimited(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  announced: string | null = null,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (Number(announced) > maxBytes) {
    await body?.cancel()
    return null
  }
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.byteLength
    if (length > maxBytes) return null // leaving the loop cancels the stream
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
