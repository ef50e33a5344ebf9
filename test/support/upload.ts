// Uploads through POST /v1/uploads.
import { expect } from 'vitest'
import { request } from './client.ts'
import { png } from './picture.ts'

/** Sends a body to POST /v1/uploads. */
export const postUpload = (
  key: string,
  body: BodyInit = png(),
  headers: Record<string, string> = {},
): Promise<Response> =>
  request('/v1/uploads', {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, ...headers },
    body,
  })

/** Uploads an image. @returns its URL */
export async function upload(key: string, body?: BodyInit): Promise<string> {
  const response = await postUpload(key, body)
  expect(response.status).toBe(201)
  return (await response.json<{ url: string }>()).url
}
