// Labels pixels so that the sum of their own costs and of the costs of borders is small:
// alpha-expansion (Boykov, Veksler, Zabih 2001).
import { minimumCut } from '../max-flow.ts'
import { pause } from '../pause.ts'

export interface Labelling {
  width: number
  height: number
  labels: Uint8Array
}

/** Of the pixels that may change, in the order of their list. */
export interface Energy {
  /** The number of labels. */
  count: number
  /** The cost of each label at each pixel of the list: at (place in the list) * count + label. */
  costs: Float32Array
  /** The cost of a border, of all pixels: at pixel * 4 + direction, see DIRECTIONS. */
  borders: Float32Array
}

/** Right, left below, below, right below: with their opposites all eight neighbours. */
export const DIRECTIONS = [
  [1, 0],
  [-1, 1],
  [0, 1],
  [1, 1],
] as const

/** The eight directions of a flow graph: first the opposites in reverse order, then DIRECTIONS. */
const STEP_X = Int32Array.of(-1, 0, 1, -1, 1, -1, 0, 1)
const STEP_Y = Int32Array.of(-1, -1, -1, 0, 0, 1, 1, 1)

/** Some 10 ms. */
const LABELS_BETWEEN_PAUSES = 3

/** Above this cost a label is impossible at a pixel. */
export const IMPOSSIBLE = 1e4

/**
 * Improves the labels of the listed pixels in place; the others keep theirs and act on their
 * neighbours.
 */
export async function improve(
  labelling: Labelling,
  energy: Energy,
  pixels: Int32Array,
  rounds: number,
): Promise<void> {
  // The node of a pixel in the graph; -1 between two expansions.
  const nodeOf = new Int32Array(labelling.labels.length).fill(-1)
  for (let round = 0; round < rounds; round++) {
    let changed = 0
    for (let label = 0; label < energy.count; label++) {
      if (label % LABELS_BETWEEN_PAUSES === 0) await pause()
      changed += expand(labelling, energy, pixels, label, nodeOf)
    }
    if (changed === 0) return
  }
}

/** Lets one label take pixels from all others. @returns the number of pixels it took */
function expand(
  { width, height, labels }: Labelling,
  { count, costs, borders }: Energy,
  pixels: Int32Array,
  label: number,
  nodeOf: Int32Array,
): number {
  let nodes = 0
  // Plain loops with indices: this is where the time goes.
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    if (labels[i] !== label && costs[k * count + label]! < IMPOSSIBLE) nodeOf[i] = nodes++
  }
  if (nodes === 0) return 0
  const reverse = new Int32Array(nodes * 8).fill(-1)
  const arcs = new Float32Array(nodes * 8)
  const terminals = new Float32Array(nodes)
  // Source side keeps its label, sink side takes the new one.
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    const n = nodeOf[i]!
    if (n < 0) continue
    const own = labels[i]!
    terminals[n] = terminals[n]! + costs[k * count + label]! - costs[k * count + own]!
    const x = i % width
    const y = (i - x) / width
    for (let d = 0; d < 8; d++) {
      const u = x + STEP_X[d]!
      const v = y + STEP_Y[d]!
      if (u < 0 || u >= width || v < 0 || v >= height) continue
      const forward = d >= 4
      const j = v * width + u
      const m = nodeOf[j]!
      const weight = forward ? borders[i * 4 + d - 4]! : borders[j * 4 + 3 - d]!
      if (m < 0) {
        terminals[n] = terminals[n]! + weight * besideFixed(own, labels[j]!, label)
      } else if (forward) {
        reverse[n * 8 + d] = m * 8 + 7 - d
        reverse[m * 8 + 7 - d] = n * 8 + d
        arcs[n * 8 + d] = weight
        if (own === labels[j]) arcs[m * 8 + 7 - d] = weight
        else terminals[m] = terminals[m]! - weight
      }
    }
  }
  const onSourceSide = minimumCut({ degree: 8, reverse, arcs, terminals })
  let taken = 0
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    const node = nodeOf[i]!
    if (node < 0) continue
    nodeOf[i] = -1
    if (onSourceSide[node]) continue
    labels[i] = label
    taken++
  }
  return taken
}

/** What changing to the new label costs at a border with a pixel that stays: 1, 0 or -1 borders. */
const besideFixed = (own: number, fixed: number, label: number) =>
  (fixed === label ? 0 : 1) - (fixed === own ? 0 : 1)
