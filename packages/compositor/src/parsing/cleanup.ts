// The connected pieces of a labelling that are too small to be a part of their own.
import { piecesOf } from '../pieces.ts'
import type { Labelling } from './expansion.ts'
import { LABEL_COUNT } from './labels.ts'

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
