// The connected pieces of a labelling, and what is too small to be a part of its own.
import type { Labelling } from './expansion.ts'

export interface Piece {
  label: number
  pixels: number[]
}

/** The pieces that are connected by the sides of their pixels, one at a time. */
export function* piecesOf({ width, labels }: Labelling): Generator<Piece> {
  const seen = new Uint8Array(labels.length)
  for (let start = 0; start < labels.length; start++) {
    if (seen[start]) continue
    const label = labels[start]!
    const pixels = [start]
    seen[start] = 1
    for (let next = 0; next < pixels.length; next++) {
      const i = pixels[next]!
      const x = i % width
      for (let side = 0; side < 4; side++) {
        const j = besideOf(i, x, side, width)
        if (j < 0 || j >= labels.length || seen[j] || labels[j] !== label) continue
        seen[j] = 1
        pixels.push(j)
      }
    }
    yield { label, pixels }
  }
}

/** How far apart the boxes around two pieces are, in pixels. */
export function gapBetween(one: Piece, other: Piece, width: number): number {
  const a = boxOf(one, width)
  const b = boxOf(other, width)
  const dx = Math.max(0, a.left - b.right, b.left - a.right)
  const dy = Math.max(0, a.top - b.bottom, b.top - a.bottom)
  return Math.hypot(dx, dy)
}

function boxOf({ pixels }: Piece, width: number) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity }
  for (const i of pixels) {
    const x = i % width
    const y = (i - x) / width
    box.left = Math.min(box.left, x)
    box.right = Math.max(box.right, x)
    box.top = Math.min(box.top, y)
    box.bottom = Math.max(box.bottom, y)
  }
  return box
}

/** The neighbour of pixel i, in column x, on one of its four sides; maybe outside the picture. */
function besideOf(i: number, x: number, side: number, width: number): number {
  if (side === 0) return x > 0 ? i - 1 : -1
  if (side === 1) return x + 1 < width ? i + 1 : -1
  return side === 2 ? i - width : i + width
}

/** Gives every piece smaller than `least` pixels the label it borders on most. In place. */
export function dissolveSpecks(labelling: Labelling, least: number): void {
  const { width, labels } = labelling
  const pieces = [...piecesOf(labelling)].filter(({ pixels }) => pixels.length < least)
  for (const { label, pixels } of pieces) {
    const counts = new Uint32Array(256)
    for (const i of pixels) {
      for (let side = 0; side < 4; side++) {
        const j = besideOf(i, i % width, side, width)
        if (j >= 0 && j < labels.length && labels[j] !== label) counts[labels[j]!]!++
      }
    }
    const most = Math.max(...counts)
    if (most > 0) for (const i of pixels) labels[i] = counts.indexOf(most)
  }
}
