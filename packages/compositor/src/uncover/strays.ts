// Small labels that are parts of the clothing around them.
import { LABEL, type Parsing } from '../parsing.ts'
import { numberPieces } from '../pieces.ts'

/** The share of a piece's outline, about its diameter, that lies beside the top. */
const BESIDE = 0.8

/** Labels of which small pieces beside the top belong to it, with the area in units of the squared body size; chosen by experiment. */
const LARGEST: [number, number][] = [
  [LABEL.bottom, 0.05],
  [LABEL.item, 0.02],
  [LABEL.hair, 0.01],
  [LABEL.shoes, 0.02],
  [LABEL.skin, 0.002],
]

/**
 * The parsing, where small pieces that lie beside the top and not beside their own kind are top: cuffs, stripes of
 * a collar, prints.
 */
export function withoutStrays(parsing: Parsing, size: number): Parsing {
  const { width, height } = parsing
  const labels = parsing.labels.slice()
  for (const [label, largest] of LARGEST) {
    const { numbers, areas } = numberPieces(parsing, (at) => parsing.labels[at] === label)
    const beside = new Uint32Array(areas.length)
    for (let at = 0; at < labels.length; at++) {
      if (parsing.labels[at] !== LABEL.top) continue
      for (let side = 0; side < 4; side++) {
        const number = numbers[at + (side < 2 ? side * 2 - 1 : (side * 2 - 5) * width)] ?? 0
        if (number > 0) beside[number] = beside[number]! + 1
      }
    }
    for (let at = 0; at < labels.length; at++) {
      const number = numbers[at]!
      if (number === 0 || areas[number]! > largest * size * size) continue
      if (beside[number]! > BESIDE * Math.sqrt(areas[number]!)) labels[at] = LABEL.top
    }
  }
  return { width, height, labels }
}
