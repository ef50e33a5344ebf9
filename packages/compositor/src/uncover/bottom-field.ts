// Trousers or a skirt continued upwards: which real pixels are shown where.
import { LABEL, type Parsing } from '../parsing.ts'
import { median } from '../plane.ts'
import { pixelsWhere } from '../raster.ts'

// Pixels of the parsing; chosen by experiment on the development photographs.
/** How far below its upper edge the visible bottom is free of the old top's shadow and hem. */
const INSIDE = 6
/** How many columns on each side the edge is averaged over. */
const SMOOTHING = 6
/** The most rows of the visible bottom that are repeated, and the fewest. */
const MOST_ROWS = 60
const LEAST_ROWS = 2
/** The share of the visible rows that is repeated: the last ones can be mixed with what is below. */
const CLEAN = 0.8
/** A column with fewer rows than this share of the usual ones shows a hand, or the ground between the legs. */
const SHALLOW = 0.4

/** Where the colours of painted pixels come from, in pixels of the parsing. */
export interface BottomSource {
  /** For each pixel the row; −1 where there is none. */
  rows: Float32Array
  /** For each column the way to the one that is shown in it. */
  shifts: Float32Array
}

/** The visible bottom below each pixel of `painted`, mirrored at its upper edge and back again. */
export function bottomSource(parsing: Parsing, painted: Uint8Array): BottomSource {
  const { width } = parsing
  const edges = smoothed(edgesOf(parsing, painted))
  const depths = edges.map((edge, x) => (edge < 0 ? 0 : visibleRows(parsing, x, edge)))
  const shifts = shiftsOf(depths)
  const rows = new Float32Array(painted.length).fill(-1)
  for (const at of pixelsWhere(painted.length, (i) => painted[i] === 1)) {
    const x = (at % width) + shifts[at % width]!
    const edge = edges[x]!
    if (edge < 0) continue
    const depth = Math.max(LEAST_ROWS, CLEAN * depths[x]!)
    const away = Math.max(0, edge - Math.floor(at / width)) % (2 * depth)
    rows[at] = edge + (away < depth ? away : 2 * depth - away)
  }
  return { rows, shifts }
}

/** The ways from shallow columns to others, mirrored at the nearest one that is not. */
function shiftsOf(depths: Float32Array): Float32Array {
  const least = SHALLOW * median([...depths].filter((depth) => depth > 0))
  return depths.map((_, x) => {
    for (let step = 0; step < depths.length; step++) {
      for (const way of [-step, step]) {
        if (depths[x + way]! >= least) return depths[x + 2 * way]! >= least ? 2 * way : way
      }
    }
    return 0
  })
}

/** The first row of the visible bottom below each column that is painted, a little inside; −1 for none. */
function edgesOf({ width, height, labels }: Parsing, painted: Uint8Array): Float32Array {
  return new Float32Array(width).fill(-1).map((none, x) => {
    let seen = false
    for (let y = 0; y < height; y++) {
      const at = y * width + x
      if (painted[at]) seen = true
      else if (seen && labels[at] === LABEL.bottom) return Math.min(height - 1, y + INSIDE)
    }
    return none
  })
}

/** The mean edge around each column, but not above its own; without one near, the nearest edge. */
function smoothed(edges: Float32Array): Float32Array {
  return edges.map((own, x) => {
    const around = edges.subarray(Math.max(0, x - SMOOTHING), x + SMOOTHING + 1)
    const known = around.filter((edge) => edge >= 0)
    if (known.length === 0) return nearestEdge(edges, x)
    return Math.max(known.reduce((sum, edge) => sum + edge) / known.length, own)
  })
}

function nearestEdge(edges: Float32Array, x: number): number {
  for (let step = 1; step < edges.length; step++) {
    for (const edge of [edges[x - step], edges[x + step]]) {
      if (edge !== undefined && edge >= 0) return edge
    }
  }
  return -1
}

/** How many rows of the visible bottom follow the edge in a column. */
function visibleRows({ width, height, labels }: Parsing, x: number, edge: number): number {
  let y = Math.floor(edge)
  while (y + 1 < height && y - edge < MOST_ROWS && labels[(y + 1) * width + x] === LABEL.bottom) y++
  return y - edge
}
