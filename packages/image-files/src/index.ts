// Reads formats, sizes and structure of image files, and replaces their metadata, without decoding them.
export * from './corrupt.ts'
export * from './format.ts'
export * from './jpeg.ts'
export * from './metadata.ts'
export * from './orientation.ts'
export * from './png.ts'
export * from './webp.ts'
