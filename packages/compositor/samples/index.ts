// Draws people and garments for tests and the benchmark.
export { createRandom, type Rgba } from './canvas.ts'
export { armOf, drawFigure, type FigureOptions } from './figure.ts'
export { drawGarment, type GarmentOptions } from './garment.ts'
export type { Body } from './head.ts'
