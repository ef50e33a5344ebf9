// Edges between neighbouring pixels, for cuts along them.
import { FlowGraph } from '../max-flow.ts'
import type { Lab } from '../oklab.ts'
import type { Size } from '../raster.ts'
import type { Mask } from './mask.ts'

/** For each pixel the squared colour change to the right and downwards, measured over three pixels. */
export interface Edges extends Size {
  right: Float32Array
  down: Float32Array
}

/** The same with a graph, which serves one cut after the other. */
export interface CutEdges extends Edges {
  graph: FlowGraph
}

export function edgesOf({ width, height, L, a, b }: Lab): Edges {
  const right = new Float32Array(width * height)
  const down = new Float32Array(width * height)
  const change = (one: number, other: number) =>
    (L[one]! - L[other]!) ** 2 + (a[one]! - a[other]!) ** 2 + (b[one]! - b[other]!) ** 2
  for (let y = 0, i = 0; y < height; y++) {
    const up = y > 0 ? width : 0
    const below = y < height - 2 ? 2 * width : y < height - 1 ? width : 0
    for (let x = 0; x < width; x++, i++) {
      const before = x > 0 ? 1 : 0
      const after = Math.min(2, width - 1 - x)
      right[i] = change(i - before, i + after)
      down[i] = change(i - up, i + below)
    }
  }
  return { width, height, right, down }
}

export function cutEdgesOf(lab: Lab): CutEdges {
  return { ...edgesOf(lab), graph: gridGraph(lab.width, lab.height) }
}

/** The squared colour change around a pixel, in the direction in which it is larger. */
export const changeAround = ({ right, down }: Edges, i: number): number =>
  Math.max(right[i]!, down[i]!)

/** The cost of an outline along a flat colour, and along the hardest edge, per pixel. Chosen by experiment. */
const SMOOTHNESS = 7
const LEAST_COST = 0.02

/** Per pixel: positive, what it costs to call it ground; negative, to call it cloth. */
export type Cut = (terminals: Float32Array) => Promise<Mask>

/** Divides the picture, as often as wanted, along edges where the colour changes by `contrast` or more. */
export function cutAlong({ width, height, right, down, graph }: CutEdges, contrast: number): Cut {
  const scale = -1 / (2 * contrast * contrast)
  const { reverse, arcs } = graph
  for (let arc = 0; arc < arcs.length; arc++) {
    const back = reverse[arc]!
    if (back < arc) continue
    const change = (arc & 2 ? down : right)[arc >> 2]!
    arcs[arc] = SMOOTHNESS * Math.exp(change * scale) + LEAST_COST
    arcs[back] = arcs[arc]!
  }
  const uncut = arcs.slice()
  return async (terminals) => {
    arcs.set(uncut)
    graph.terminals.set(terminals)
    return { width, height, data: await graph.cut() }
  }
}

/** A grid of pixels, each with arcs to the left, right, up and down, which carry nothing yet. */
export function gridGraph(width: number, height: number): FlowGraph {
  const graph = new FlowGraph(width * height, 4)
  const { reverse } = graph
  reverse.fill(-1)
  const connect = (arc: number, back: number) => {
    reverse[arc] = back
    reverse[back] = arc
  }
  for (let i = 0; i < width * height; i++) {
    if (i % width < width - 1) connect(i * 4 + 1, (i + 1) * 4)
    if (i + width < width * height) connect(i * 4 + 3, (i + width) * 4 + 2)
  }
  return graph
}
