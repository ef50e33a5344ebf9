/** Parses untrusted JSON. @returns undefined for malformed JSON, which every schema rejects */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
