// client.uploads: stores pictures for use in jobs.
import type { CallOptions, Requester } from './request.ts'
import type { Upload } from './types.ts'

/** Uploads pictures: `client.uploads`. */
export class Uploads {
  readonly #requester: Requester

  /** The client creates this object. */
  constructor(requester: Requester) {
    this.#requester = requester
  }

  /**
   * Uploads a JPEG, PNG or WebP picture of at most 10 MB.
   * @returns the URL for `model_image_url` or `garment_image_url`, which works for a day
   * @throws ApiError `validation_error` or `payload_too_large`
   */
  async create(
    bytes: Blob | Uint8Array | ArrayBuffer,
    { signal }: CallOptions = {},
  ): Promise<Upload> {
    return this.#requester.send<Upload>({
      method: 'POST',
      path: '/uploads',
      // The service reads the format from the bytes.
      headers: { 'Content-Type': 'application/octet-stream' },
      // The copy does not change between attempts.
      body: bytes instanceof Blob ? bytes : new Uint8Array(bytes),
      signal,
    })
  }
}
