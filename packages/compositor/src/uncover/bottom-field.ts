// Trousers or a skirt continued upwards: which real pixels are shown where.
import { LABEL, type Parsing } from '../parsing.ts'

/**
 * For each pixel of `painted` the row, in pixels of the parsing, from which its colour comes: the column below,
 * mirrored at the upper edge of the visible bottom and back again. −1 where there is none.
 */
export function bottomRows(parsing: Parsing, painted: Uint8Array): Float32Array {
  const { width, height, labels } = parsing
  const rows = new Float32Array(width * height).fill(-1)
  const edges = smoothed(edgesOf(parsing, painted))
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const edge = edges[x]!
      if (!painted[at] || edge < 0) continue
      const depth = Math.max(2, depthAt(labels, width, height, x, edge))
      const away = Math.max(0, edge - y) % (2 * depth)
      rows[at] = edge + (away < depth ? away : 2 * depth - away)
    }
  }
  return rows
}

/** The first row of the visible bottom below each column that is painted, a little inside; −1 for none. */
function edgesOf({ width, height, labels }: Parsing, painted: Uint8Array): Float32Array {
  const edges = new Float32Array(width).fill(-1)
  for (let x = 0; x < width; x++) {
    let seen = false
    for (let y = 0; y < height; y++) {
      const at = y * width + x
      if (painted[at]) seen = true
      else if (seen && labels[at] === LABEL.bottom) {
        edges[x] = Math.min(height - 1, y + 6)
        break
      }
    }
  }
  return edges
}

function smoothed(edges: Float32Array): Float32Array {
  const result = edges.slice()
  for (let x = 0; x < edges.length; x++) {
    let sum = 0
    let count = 0
    let nearest = -1
    for (let step = 0; step < edges.length && (step <= 6 || nearest < 0); step++) {
      for (const other of step === 0 ? [x] : [x - step, x + step]) {
        const edge = edges[other]
        if (edge === undefined || edge < 0) continue
        if (nearest < 0) nearest = edge
        if (step <= 6) {
          sum += edge
          count++
        }
      }
    }
    result[x] = count > 0 ? Math.max(sum / count, edges[x]!) : nearest
  }
  return result
}

function depthAt(
  labels: Uint8Array,
  width: number,
  height: number,
  x: number,
  edge: number,
): number {
  let y = Math.floor(edge)
  while (y + 1 < height && y - edge < 60 && labels[(y + 1) * width + x] === LABEL.bottom) y++
  return (y - edge) * 0.8
}
