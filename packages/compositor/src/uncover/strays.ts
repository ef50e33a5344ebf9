// Small labels that are parts of the clothing around them.
import { LABEL, type Parsing } from '../parsing.ts'
import { componentsOf } from './morphology.ts'

/** Labels of which small pieces beside the top belong to it, with the area in units of the squared body size. */
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
    const { numbers, areas } = componentsOf((at) => parsing.labels[at] === label, width, height)
    const beside = new Uint32Array(areas.length)
    for (let at = 0; at < labels.length; at++) {
      if (parsing.labels[at] !== LABEL.top) continue
      for (const other of [at - 1, at + 1, at - width, at + width]) {
        const number = numbers[other] ?? 0
        if (number > 0) beside[number] = beside[number]! + 1
      }
    }
    for (let at = 0; at < labels.length; at++) {
      const number = numbers[at]!
      if (number === 0 || areas[number]! > largest * size * size) continue
      if (beside[number]! > 0.8 * Math.sqrt(areas[number]!)) labels[at] = LABEL.top
    }
  }
  return { width, height, labels }
}
