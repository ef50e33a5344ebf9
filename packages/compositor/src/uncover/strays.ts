// Small labels that are parts of the clothing around them.
import { LABEL, type Parsing } from '../parsing.ts'
import { piecesOf } from '../pieces.ts'

/** The share of a piece's outline, about its diameter, that lies beside the top. */
const BESIDE = 0.8

/** Labels of which small pieces beside the top belong to it, with the area in units of the squared body size; chosen by experiment. */
const LARGEST = new Map<number, number>([
  [LABEL.bottom, 0.12],
  [LABEL.item, 0.02],
  [LABEL.hair, 0.01],
  [LABEL.shoes, 0.02],
  [LABEL.skin, 0.002],
])

/**
 * The parsing, where small pieces that lie beside the top and not beside their own kind are top: cuffs, stripes of
 * a collar, prints.
 */
export function withoutStrays(parsing: Parsing, size: number): Parsing {
  const { width, height } = parsing
  const labels = parsing.labels.slice()
  for (const { value, pixels } of piecesOf(parsing.labels, width)) {
    const largest = LARGEST.get(value) ?? 0
    if (pixels.length > largest * size * size) continue
    // The picture may end just below the waist of trousers.
    if (value === LABEL.bottom && pixels.some((at) => at >= width * (height - 1))) continue
    let beside = 0
    for (const at of pixels) {
      for (const other of [at - 1, at + 1, at - width, at + width]) {
        if (parsing.labels[other] === LABEL.top) beside++
      }
    }
    if (beside > BESIDE * Math.sqrt(pixels.length)) for (const at of pixels) labels[at] = LABEL.top
  }
  return { width, height, labels }
}
