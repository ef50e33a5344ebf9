// Trousers or a skirt continued upwards: which real pixels are shown where.
import { LABEL, type Parsing } from '../parsing.ts'

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

/**
 * For each pixel of `painted` the row, in pixels of the parsing, from which its colour comes: the column below,
 * mirrored at the upper edge of the visible bottom and back again. −1 where there is none.
 */
export function bottomRows(parsing: Parsing, painted: Uint8Array): Float32Array {
  const { width } = parsing
  const edges = smoothed(edgesOf(parsing, painted))
  return new Float32Array(painted.length).fill(-1).map((none, at) => {
    const edge = edges[at % width]!
    if (!painted[at] || edge < 0) return none
    const depth = Math.max(LEAST_ROWS, CLEAN * visibleRows(parsing, at % width, edge))
    const away = Math.max(0, edge - Math.floor(at / width)) % (2 * depth)
    return edge + (away < depth ? away : 2 * depth - away)
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
