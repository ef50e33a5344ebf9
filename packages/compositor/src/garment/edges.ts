// Edges between neighbouring pixels, for cuts along them.
import type { Lab } from '../oklab.ts'

/** For each pixel the squared colour change to the right and downwards, measured over three pixels. */
export interface Edges {
  width: number
  height: number
  right: Float32Array
  down: Float32Array
}

export function edgesOf({ width, height, L, a, b }: Lab): Edges {
  const right = new Float32Array(width * height)
  const down = new Float32Array(width * height)
  const change = (one: number, other: number) =>
    (L[one]! - L[other]!) ** 2 + (a[one]! - a[other]!) ** 2 + (b[one]! - b[other]!) ** 2
  for (let y = 0, i = 0; y < height; y++) {
    const up = y > 0 ? width : 0
    const below = y < height - 2 ? 2 * width : y < height - 1 ? width : 0
    for (let x = 0; x < width; x++, i++) {
      const before = x > 0 ? 1 : 0
      const after = Math.min(2, width - 1 - x)
      right[i] = change(i - before, i + after)
      down[i] = change(i - up, i + below)
    }
  }
  return { width, height, right, down }
}

/** The cost of an outline along a flat colour, per pixel. */
const SMOOTHNESS = 7

/** What it costs to cut between neighbours: little where the colour changes by `contrast` or more. */
export function linksOf({ width, height, right, down }: Edges, contrast: number): Float32Array {
  const size = width * height
  const scale = -1 / (2 * contrast * contrast)
  const links = new Float32Array(size * 4)
  for (let i = 0; i < size; i++) {
    if (i % width < width - 1) {
      const cost = SMOOTHNESS * Math.exp(right[i]! * scale) + 0.02
      links[i * 4 + 1] = cost
      links[(i + 1) * 4] = cost
    }
    if (i + width < size) {
      const cost = SMOOTHNESS * Math.exp(down[i]! * scale) + 0.02
      links[i * 4 + 3] = cost
      links[(i + width) * 4 + 2] = cost
    }
  }
  return links
}
