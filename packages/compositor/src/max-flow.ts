// Minimum cut of a graph by the algorithm of Boykov and Kolmogorov (2004): two trees grow from the
// terminals until they touch, the path found is saturated, and orphaned nodes look for another parent.

/** The arcs of node n are at n * degree and the places behind it. */
interface FlowGraph {
  /** The arcs of each node: 4 or 8. */
  degree: number
  /** For each arc the place of the arc back from the neighbour; -1 where there is no neighbour. */
  reverse: Int32Array
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

/** An arc that can carry no more than this is saturated. Rounding leaves traces, which would make endless tiny paths. */
const TRACE = 1e-6

/**
 * Finds a minimum cut. Uses up the capacities of the graph.
 * @returns for each node 1 if it stays with the source, else 0
 */
export function minimumCut(graph: FlowGraph): Uint8Array {
  return new Search(graph).run().map((side) => (side === SOURCE ? 1 : 0))
}

class Search {
  readonly #degree: number
  /** Shifts the place of an arc to its node. */
  readonly #shift: number
  readonly #reverse: Int32Array
  readonly #arcs: Float32Array
  readonly #terminals: Float32Array
  /** The terminal whose tree a node belongs to, or FREE. */
  readonly #tree: Uint8Array
  /** A node's arc to its parent, TERMINAL, ORPHAN, or NO_PARENT when it is free. */
  readonly #parent: Int32Array
  /** The number of steps to the terminal, as counted at the time of the stamp. */
  readonly #depth: Int32Array
  readonly #stamp: Int32Array
  #time = 0
  /** A ring of the nodes that may grow. */
  readonly #queue: Int32Array
  readonly #queued: Uint8Array
  #head = 0
  #tail = 0
  readonly #orphans: number[] = []

  constructor({ degree, reverse, arcs, terminals }: FlowGraph) {
    const nodes = terminals.length
    this.#degree = degree
    this.#shift = Math.log2(degree)
    this.#reverse = reverse
    this.#arcs = arcs
    this.#terminals = terminals
    this.#tree = new Uint8Array(nodes)
    this.#parent = new Int32Array(nodes).fill(NO_PARENT)
    this.#depth = new Int32Array(nodes)
    this.#stamp = new Int32Array(nodes)
    this.#queue = new Int32Array(nodes + 1)
    this.#queued = new Uint8Array(nodes)
    for (let node = 0; node < nodes; node++) {
      if (terminals[node] !== 0) this.#join(node, terminals[node]! > 0 ? SOURCE : SINK, TERMINAL, 1)
    }
  }

  /** @returns the tree of each node */
  run(): Uint8Array {
    while (this.#head !== this.#tail) {
      const node = this.#queue[this.#head]!
      this.#head = (this.#head + 1) % this.#queue.length
      this.#queued[node] = 0
      while (this.#tree[node] !== FREE && this.#grow(node));
    }
    return this.#tree
  }

  #activate(node: number): void {
    if (this.#queued[node] === 1) return
    this.#queued[node] = 1
    this.#queue[this.#tail] = node
    this.#tail = (this.#tail + 1) % this.#queue.length
  }

  #join(node: number, side: number, parent: number, depth: number): void {
    this.#tree[node] = side
    this.#parent[node] = parent
    this.#depth[node] = depth
    this.#activate(node)
  }

  /** What an arc can carry in its tree's direction of flow: away from the source, towards the sink. */
  #residual(side: number, arc: number): number {
    return this.#arcs[side === SOURCE ? arc : this.#reverse[arc]!]!
  }

  /** Grows the tree at the node. @returns whether a path between the terminals was found */
  #grow(node: number): boolean {
    const side = this.#tree[node]!
    const first = node << this.#shift
    for (let arc = first; arc < first + this.#degree; arc++) {
      const back = this.#reverse[arc]!
      if (back < 0 || this.#residual(side, arc) <= 0) continue
      const other = back >> this.#shift
      if (this.#tree[other] === FREE) {
        this.#stamp[other] = this.#stamp[node]!
        this.#join(other, side, back, this.#depth[node]! + 1)
      } else if (this.#tree[other] !== side) {
        this.#augment(side === SOURCE ? arc : back)
        return true
      }
    }
    return false
  }

  /** Pushes flow along the path through an arc from the source's tree to the sink's, and repairs the trees. */
  #augment(bridge: number): void {
    this.#time++
    const from = bridge >> this.#shift
    const to = this.#reverse[bridge]! >> this.#shift
    const flow = Math.min(this.#arcs[bridge]!, this.#capacityOf(from), this.#capacityOf(to))
    this.#push(bridge, flow)
    this.#drain(from, flow)
    this.#drain(to, flow)
    for (let node = this.#orphans.pop(); node !== undefined; node = this.#orphans.pop()) {
      this.#adopt(node)
    }
  }

  /** What the path between a node and its terminal can carry. */
  #capacityOf(start: number): number {
    const side = this.#tree[start]!
    let least = Infinity
    let node = start
    for (let up = this.#parent[node]!; up !== TERMINAL; up = this.#parent[node]!) {
      least = Math.min(least, this.#residual(side, this.#reverse[up]!))
      node = this.#reverse[up]! >> this.#shift
    }
    return Math.min(least, Math.abs(this.#terminals[node]!))
  }

  /** Takes flow off the path between a node and its terminal. Nodes behind a saturated arc become orphans. */
  #drain(start: number, flow: number): void {
    const side = this.#tree[start]!
    let node = start
    for (let up = this.#parent[node]!; up !== TERMINAL; up = this.#parent[node]!) {
      const back = this.#reverse[up]!
      if (this.#push(side === SOURCE ? back : up, flow)) this.#orphan(node)
      node = back >> this.#shift
    }
    const left = Math.max(0, Math.abs(this.#terminals[node]!) - flow)
    this.#terminals[node] = side === SOURCE ? left : -left
    if (left === 0) this.#orphan(node)
  }

  /** @returns whether the arc is saturated */
  #push(arc: number, flow: number): boolean {
    const back = this.#reverse[arc]!
    this.#arcs[back] = this.#arcs[back]! + flow
    const left = this.#arcs[arc]! - flow
    this.#arcs[arc] = left > TRACE ? left : 0
    return left <= TRACE
  }

  #orphan(node: number): void {
    this.#parent[node] = ORPHAN
    this.#orphans.push(node)
  }

  /** Gives an orphan the parent nearest to their terminal. Without one it becomes free, its children orphans. */
  #adopt(node: number): void {
    const side = this.#tree[node]!
    const first = node << this.#shift
    let parent = NO_PARENT
    let nearest = Infinity
    const candidates: number[] = []
    for (let arc = first; arc < first + this.#degree; arc++) {
      const back = this.#reverse[arc]!
      if (back < 0 || this.#tree[back >> this.#shift] !== side) continue
      candidates.push(back)
      if (this.#residual(side, back) <= 0) continue
      const depth = this.#depthOf(back >> this.#shift)
      if (depth >= nearest) continue
      nearest = depth
      parent = arc
    }
    this.#parent[node] = parent
    if (parent !== NO_PARENT) {
      this.#stamp[node] = this.#time
      this.#depth[node] = nearest + 1
      return
    }
    for (const back of candidates) {
      const other = back >> this.#shift
      if (this.#residual(side, back) > 0) this.#activate(other)
      if (this.#parent[other] === back) this.#orphan(other)
    }
    this.#tree[node] = FREE
  }

  /** The number of steps from a node to its terminal; Infinity when its path ends at an orphan. */
  #depthOf(start: number): number {
    let steps = 0
    let node = start
    while (this.#stamp[node] !== this.#time) {
      const up = this.#parent[node]!
      if (up === ORPHAN) return Infinity
      if (up === TERMINAL) {
        this.#stamp[node] = this.#time
        this.#depth[node] = 1
        break
      }
      steps++
      node = this.#reverse[up]! >> this.#shift
    }
    const depth = steps + this.#depth[node]!
    let left = depth
    for (node = start; this.#stamp[node] !== this.#time;) {
      this.#stamp[node] = this.#time
      this.#depth[node] = left--
      node = this.#reverse[this.#parent[node]!]! >> this.#shift
    }
    return depth
  }
}
