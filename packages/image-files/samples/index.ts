// Builds JPEG, PNG and WebP files byte by byte, valid or malformed, for tests.
export * from './jpeg.ts'
export * from './png.ts'
export * from './webp.ts'
