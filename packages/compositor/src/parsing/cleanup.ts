// The connected pieces of a labelling, and what is too small to be a part of its own.
import { piecesOf, type Piece } from '../pieces.ts'
import type { Labelling } from './expansion.ts'
import { LABEL_COUNT } from './labels.ts'

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

/** Gives every piece smaller than `least` pixels the label it borders on most. In place. */
export function dissolveSpecks({ width, labels }: Labelling, least: number): void {
  const pieces = piecesOf(labels, width).filter(({ pixels }) => pixels.length < least)
  for (const { value, pixels } of pieces) {
    const counts = new Uint32Array(LABEL_COUNT)
    for (const i of pixels) {
      const x = i % width
      for (const j of [x > 0 ? i - 1 : -1, x + 1 < width ? i + 1 : -1, i - width, i + width]) {
        const label = labels[j] ?? value
        if (label !== value) counts[label]!++
      }
    }
    const most = Math.max(...counts)
    if (most > 0) for (const i of pixels) labels[i] = counts.indexOf(most)
  }
}
