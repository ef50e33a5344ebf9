// JSON that others wrote: a provider's answer, or a handle as it comes back from the database.

/** @returns undefined for a text that is no JSON; whether that will do is for a schema to say */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
