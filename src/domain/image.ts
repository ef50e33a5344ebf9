// The image formats that the service accepts and produces.

export const IMAGE_FORMATS = ['jpeg', 'png', 'webp'] as const
export type ImageFormat = (typeof IMAGE_FORMATS)[number]

/** File-name extension under which an image of a format is stored and served. */
export const EXTENSION = { jpeg: 'jpg', png: 'png', webp: 'webp' } as const

export const contentTypeOf = (format: ImageFormat): string => `image/${format}`
