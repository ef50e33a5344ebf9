// Distances within masks.
import { distanceTo as distanceToSet } from '../distance.ts'
import type { Mask } from './regions.ts'

/** The distance of each pixel to the nearest pixel with value `of`, in pixels, nearly Euclidean. */
export const distanceTo = ({ width, height, data }: Mask, of: 0 | 1): Float32Array =>
  distanceToSet((at) => data[at] === of, width, height)
