// How wide cloth hangs round the body.
import type { Body } from '../body.ts'
import { clamp } from '../raster.ts'

/** The width of fitted cloth relative to the body's. */
export const EASE = 1.04

/** Half the garment's width at a height: at least the body's, at most what hangs loosely. */
export function widthAt(body: Body, sign: -1 | 1, y: number, natural: number): number {
  const own = Math.abs(body.edgeAt(sign, y))
  const hips = body.torso * 1.1
  if (y > hips) return Math.max(natural, 0.8 * Math.abs(body.edgeAt(sign, hips)))
  return clamp(natural, own * EASE, Math.max(own * 1.25, natural * 0.9))
}
