// Draws people and garments for tests, the gallery and the sample files.
export * from './canvas.ts'
export * from './figure.ts'
export * from './garment.ts'
