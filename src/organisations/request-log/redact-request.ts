// What the request log stores of a rejected request besides its code: the message of the response, and the shape of
// the body of a submission. Neither has a key, a signed link, a picture, or a value that the API does not define.
import { redact } from '../../platform/log.ts'
import { isId } from '../../platform/ids.ts'

const URL_FIELDS = new Set(['model_image_url', 'garment_image_url', 'webhook_url'])
/** ASCII, so that a body has as many bytes as characters. */
const NAME = /^[\x21-\x7e]{1,64}$/
const MAX_FIELDS = 20
const MAX_URL_LENGTH = 400
const MAX_MESSAGE_LENGTH = 1_000
const MAX_BODY_BYTES = 2_048

export const loggedMessage = (message: string): string =>
  redact(message.slice(0, MAX_MESSAGE_LENGTH))

/** @param body a parsed JSON document @returns indented JSON of at most 2,048 bytes */
export function loggedBody(body: unknown): string {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const text = isObject ? JSON.stringify(redactedFields(body), null, 2) : kindOf(body)
  return redact(text).slice(0, MAX_BODY_BYTES)
}

const redactedFields = (body: object) =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => NAME.test(name))
      .slice(0, MAX_FIELDS)
      .map(([name, value]) => [name, redactedValue(name, value)]),
  )

function redactedValue(name: string, value: unknown): string {
  if (typeof value !== 'string') return kindOf(value)
  if (name === 'workspace_id' && isId('ws', value)) return value
  return (URL_FIELDS.has(name) && shortUrl(value)) || kindOf(value)
}

/** Origin and path: queries contain signatures. @returns undefined for what is no http URL, such as a picture */
function shortUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  const short = url.origin + url.pathname
  return short.length > MAX_URL_LENGTH ? `${short.slice(0, MAX_URL_LENGTH)}...` : short
}

/** Such as `[string of 12 characters]`. */
function kindOf(value: unknown): string {
  if (typeof value === 'string') return `[string of ${value.length} characters]`
  if (value === null) return '[null]'
  return Array.isArray(value) ? '[array]' : `[${typeof value}]`
}
