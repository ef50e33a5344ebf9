// Minimum cut of a graph whose nodes lie on a grid with eight neighbours each, after Boykov and
// Kolmogorov (2004): two trees grow from the terminals until they touch, the path found is
// saturated, and orphaned nodes look for another parent.

/** The arcs of node n towards direction d are at n * 8 + d. The opposite of direction d is 7 - d. */
export interface FlowGraph {
  nodes: number
  /** The neighbouring node in each direction, or -1. */
  neighbours: Int32Array
  /** What each arc can still carry. */
  arcs: Float32Array
  /** Positive: capacity from the source; negative: capacity to the sink. */
  terminals: Float32Array
}

const NO_PARENT = -1
const TERMINAL = -2
const ORPHAN = -3
const FREE = 0
const SOURCE = 1
const SINK = 2

/**
 * Finds a minimum cut. Uses up the capacities of the graph.
 * @returns for each node 1 if it stays with the source, else 0
 */
export function minimumCut(graph: FlowGraph): Uint8Array {
  const { nodes, neighbours, arcs, terminals } = graph
  const tree = new Uint8Array(nodes)
  const parent = new Int32Array(nodes).fill(NO_PARENT)
  const stamp = new Int32Array(nodes)
  const distance = new Int32Array(nodes)
  const queued = new Uint8Array(nodes)
  const queue = new Int32Array(nodes + 1)
  let [head, tail, time] = [0, 0, 0]
  const orphans: number[] = []

  const activate = (node: number) => {
    if (queued[node]) return
    queued[node] = 1
    queue[tail] = node
    tail = tail === nodes ? 0 : tail + 1
  }
  /** The capacity along the tree's direction of flow, for the arc d of node n seen from n. */
  const outward = (side: number, n: number, d: number, other: number) =>
    side === SOURCE ? arcs[n * 8 + d]! : arcs[other * 8 + 7 - d]!

  for (let n = 0; n < nodes; n++) {
    if (terminals[n] === 0) continue
    tree[n] = terminals[n]! > 0 ? SOURCE : SINK
    parent[n] = TERMINAL
    distance[n] = 1
    activate(n)
  }

  /** Pushes flow along the path through the arc from a source node to a sink node. */
  const augment = (from: number, d: number) => {
    const to = neighbours[from * 8 + d]!
    let flow = arcs[from * 8 + d]!
    let n = from
    for (; parent[n] !== TERMINAL; n = neighbours[n * 8 + parent[n]!]!) {
      const up = parent[n]!
      flow = Math.min(flow, arcs[neighbours[n * 8 + up]! * 8 + 7 - up]!)
    }
    flow = Math.min(flow, terminals[n]!)
    for (n = to; parent[n] !== TERMINAL; n = neighbours[n * 8 + parent[n]!]!) {
      flow = Math.min(flow, arcs[n * 8 + parent[n]!]!)
    }
    flow = Math.min(flow, -terminals[n]!)

    shift(from * 8 + d, to * 8 + 7 - d, flow)
    for (n = from; parent[n] !== TERMINAL;) {
      const up = parent[n]!
      const next = neighbours[n * 8 + up]!
      if (shift(next * 8 + 7 - up, n * 8 + up, flow)) orphan(n)
      n = next
    }
    terminals[n] = terminals[n]! - flow
    if (terminals[n]! <= 0) {
      terminals[n] = 0
      orphan(n)
    }
    for (n = to; parent[n] !== TERMINAL;) {
      const up = parent[n]!
      const next = neighbours[n * 8 + up]!
      if (shift(n * 8 + up, next * 8 + 7 - up, flow)) orphan(n)
      n = next
    }
    terminals[n] = terminals[n]! + flow
    if (terminals[n]! >= 0) {
      terminals[n] = 0
      orphan(n)
    }
  }
  /** @returns whether the arc is saturated */
  const shift = (arc: number, reverse: number, flow: number) => {
    arcs[reverse] = arcs[reverse]! + flow
    const left = arcs[arc]! - flow
    // Rounding may leave a trace that would make endless tiny paths.
    arcs[arc] = left > 1e-6 ? left : 0
    return left <= 1e-6
  }
  const orphan = (n: number) => {
    parent[n] = ORPHAN
    orphans.push(n)
  }
  /** The distance of the node to its terminal, or 0 when its path ends at an orphan. */
  const rooted = (start: number): number => {
    let length = 0
    let n = start
    for (;;) {
      if (stamp[n] === time) {
        length += distance[n]!
        break
      }
      const up = parent[n]!
      length++
      if (up === TERMINAL) {
        stamp[n] = time
        distance[n] = 1
        break
      }
      if (up < 0) return 0
      n = neighbours[n * 8 + up]!
    }
    let left = length
    for (n = start; stamp[n] !== time; n = neighbours[n * 8 + parent[n]!]!) {
      stamp[n] = time
      distance[n] = left--
    }
    return length
  }
  const adopt = (n: number) => {
    const side = tree[n]!
    let best = NO_PARENT
    let nearest = Infinity
    for (let d = 0; d < 8; d++) {
      const other = neighbours[n * 8 + d]!
      if (other < 0 || tree[other] !== side || parent[other] === NO_PARENT) continue
      if (outward(side, other, 7 - d, n) <= 0) continue
      const length = rooted(other)
      if (length > 0 && length < nearest) {
        nearest = length
        best = d
      }
    }
    if (best !== NO_PARENT) {
      parent[n] = best
      stamp[n] = time
      distance[n] = nearest + 1
      return
    }
    for (let d = 0; d < 8; d++) {
      const other = neighbours[n * 8 + d]!
      if (other < 0 || tree[other] !== side) continue
      if (outward(side, other, 7 - d, n) > 0) activate(other)
      if (parent[other] === 7 - d) orphan(other)
    }
    tree[n] = FREE
    parent[n] = NO_PARENT
  }
  /** Grows the tree at the node. @returns whether a path was found */
  const grow = (n: number): boolean => {
    const side = tree[n]!
    for (let d = 0; d < 8; d++) {
      const other = neighbours[n * 8 + d]!
      if (other < 0 || outward(side, n, d, other) <= 0) continue
      if (tree[other] === FREE) {
        tree[other] = side
        parent[other] = 7 - d
        stamp[other] = stamp[n]!
        distance[other] = distance[n]! + 1
        activate(other)
      } else if (tree[other] !== side) {
        time++
        if (side === SOURCE) augment(n, d)
        else augment(other, 7 - d)
        for (let next = orphans.pop(); next !== undefined; next = orphans.pop()) adopt(next)
        return true
      }
    }
    return false
  }

  while (head !== tail) {
    const n = queue[head]!
    head = head === nodes ? 0 : head + 1
    queued[n] = 0
    let found = true
    while (found && tree[n] !== FREE) found = grow(n)
  }
  const source = new Uint8Array(nodes)
  for (let n = 0; n < nodes; n++) source[n] = tree[n] === SOURCE ? 1 : 0
  return source
}
