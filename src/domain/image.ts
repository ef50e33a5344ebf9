// The image formats that the service accepts and produces.

export const IMAGE_FORMATS = ['jpeg', 'png', 'webp'] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

/** The file-name extension of stored and served images. */
export const EXTENSION = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const

/** An image in memory. */
export interface ImageFile {
  bytes: Uint8Array<ArrayBuffer>
  format: ImageFormat
}

export const contentTypeOf = (format: ImageFormat): string => `image/${format}`
