// Reads formats, sizes and structure of image files without decoding them.
export * from './corrupt.ts'
export * from './format.ts'
export * from './jpeg.ts'
export * from './png.ts'
export * from './webp.ts'
