// Labels pixels so that the sum of their own costs and of the costs of borders is small:
// alpha-expansion (Boykov, Veksler, Zabih 2001).
import { FlowGraph } from '../max-flow.ts'
import { pause } from '../pause.ts'
import type { Size } from '../raster.ts'

export interface Labelling extends Size {
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
  /** The most that the borders of one pixel pay for another label. */
  mostBorders: number
}

/** Right, left below, below, right below: with their opposites all eight neighbours. */
export const DIRECTIONS = [
  [1, 0],
  [-1, 1],
  [0, 1],
  [1, 1],
] as const

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
  const graph = new FlowGraph(pixels.length, 8)
  for (let round = 0; round < rounds; round++) {
    let changed = 0
    for (let label = 0; label < energy.count; label++) {
      if (label % LABELS_BETWEEN_PAUSES === 0) await pause()
      changed += await expand(labelling, energy, pixels, label, nodeOf, graph)
    }
    if (changed === 0) return
  }
}

/** Lets one label take pixels from all others. @returns the number of pixels it took */
async function expand(
  { width, height, labels }: Labelling,
  { count, costs, borders, mostBorders }: Energy,
  pixels: Int32Array,
  label: number,
  nodeOf: Int32Array,
  graph: FlowGraph,
): Promise<number> {
  let nodes = 0
  // Plain loops with indices: this is where the time goes.
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    const cost = costs[k * count + label]!
    if (labels[i] === label || cost >= IMPOSSIBLE) continue
    // No borders could pay for more.
    if (cost - costs[k * count + labels[i]!]! < mostBorders) nodeOf[i] = nodes++
  }
  if (nodes === 0) return 0
  const { reverse, arcs, terminals } = graph
  reverse.fill(-1, 0, nodes * 8)
  terminals.fill(0, 0, nodes)
  // The directions of the graph are the opposites of DIRECTIONS in reverse order, then DIRECTIONS.
  const steps = DIRECTIONS.map(([x, y]) => y * width + x)
  // Source side keeps its label, sink side takes the new one.
  for (let k = 0; k < pixels.length; k++) {
    const i = pixels[k]!
    const n = nodeOf[i]!
    if (n < 0) continue
    const own = labels[i]!
    terminals[n] = terminals[n]! + costs[k * count + label]! - costs[k * count + own]!
    const x = i % width
    const isInside = x > 0 && x + 1 < width && i >= width && i + width < labels.length
    for (let d = 0; d < 8; d++) {
      const forward = d >= 4
      const side = forward ? d - 4 : 3 - d
      if (!isInside && leaves(i, x, d, width, height)) continue
      const j = forward ? i + steps[side]! : i - steps[side]!
      const m = nodeOf[j]!
      if (m < 0) {
        const weight = borders[(forward ? i : j) * 4 + side]!
        terminals[n] = terminals[n]! + weight * besideFixed(own, labels[j]!, label)
      } else if (forward) {
        const weight = borders[i * 4 + side]!
        const arc = n * 8 + d
        const back = m * 8 + 7 - d
        reverse[arc] = back
        reverse[back] = arc
        arcs[arc] = weight
        arcs[back] = own === labels[j] ? weight : 0
        if (own !== labels[j]) terminals[m] = terminals[m]! - weight
      }
    }
  }
  const onSourceSide = await graph.cut(nodes)
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

/** Whether a direction leads out of the picture. */
function leaves(i: number, x: number, d: number, width: number, height: number): boolean {
  const [dx, dy] = DIRECTIONS[d >= 4 ? d - 4 : 3 - d]!
  const sign = d >= 4 ? 1 : -1
  const [u, v] = [x + sign * dx, (i - x) / width + sign * dy]
  return u < 0 || u >= width || v < 0 || v >= height
}
