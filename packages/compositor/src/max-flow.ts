// Minimum cut of a graph by the algorithm of Boykov and Kolmogorov (2004): two trees grow from the
// terminals until they touch, the path found is saturated, and orphaned nodes look for another parent.
import { pause } from './pause.ts'

const NO_PARENT = -1
const TERMINAL = -2
const ORPHAN = -3
const FREE = 0
const SOURCE = 1
const SINK = 2

/** An arc that can carry no more than this is saturated. Rounding leaves traces, which would make endless tiny paths. */
const TRACE = 1e-6
/** The paths that are found between two pauses: some 5 ms, on noise up to 50. */
const PATHS_BETWEEN_PAUSES = 4_000

/**
 * A graph whose memory serves many cuts. The arcs of node n are at n * degree and the places behind it.
 * The caller sets everything of the nodes in use before each cut, which uses up the capacities.
 */
export class FlowGraph {
  /** For each arc the place of the arc back from the neighbour; -1 where there is no neighbour. */
  readonly reverse: Int32Array
  /** What each arc can carry. */
  readonly arcs: Float32Array
  /** Positive: capacity from the source; negative: capacity to the sink. */
  readonly terminals: Float32Array
  readonly #degree: number
  /** Shifts the place of an arc to its node. */
  readonly #shift: number
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

  /** @param degree the arcs of each node: 4 or 8 */
  constructor(nodes: number, degree: number) {
    this.reverse = new Int32Array(nodes * degree)
    this.arcs = new Float32Array(nodes * degree)
    this.terminals = new Float32Array(nodes)
    this.#degree = degree
    this.#shift = Math.log2(degree)
    this.#tree = new Uint8Array(nodes)
    this.#parent = new Int32Array(nodes)
    this.#depth = new Int32Array(nodes)
    this.#stamp = new Int32Array(nodes)
    this.#queue = new Int32Array(nodes + 1)
    this.#queued = new Uint8Array(nodes)
  }

  /**
   * Finds a minimum cut of the first nodes. Pauses on the way.
   * @returns for each of them 1 if it stays with the source, else 0
   */
  async cut(nodes = this.terminals.length): Promise<Uint8Array> {
    this.#plant(nodes)
    const [tree, queue] = [this.#tree, this.#queue]
    let pathsAtPause = PATHS_BETWEEN_PAUSES
    while (this.#head !== this.#tail) {
      const node = queue[this.#head]!
      this.#head = this.#head + 1 === queue.length ? 0 : this.#head + 1
      this.#queued[node] = 0
      while (tree[node] !== FREE && this.#grow(node));
      if (this.#time < pathsAtPause) continue
      pathsAtPause = this.#time + PATHS_BETWEEN_PAUSES
      await pause()
    }
    const sides = new Uint8Array(nodes)
    for (let node = 0; node < nodes; node++) if (tree[node] === SOURCE) sides[node] = 1
    return sides
  }

  /** Starts both trees with the nodes that have a capacity at their terminal. */
  #plant(nodes: number): void {
    const { terminals } = this
    this.#tree.fill(FREE, 0, nodes)
    this.#parent.fill(NO_PARENT, 0, nodes)
    this.#stamp.fill(0, 0, nodes)
    this.#time = 0
    for (let node = 0; node < nodes; node++) {
      if (terminals[node] !== 0) this.#join(node, terminals[node]! > 0 ? SOURCE : SINK, TERMINAL, 1)
    }
  }

  #activate(node: number): void {
    if (this.#queued[node] === 1) return
    this.#queued[node] = 1
    this.#queue[this.#tail] = node
    this.#tail = this.#tail + 1 === this.#queue.length ? 0 : this.#tail + 1
  }

  #join(node: number, side: number, parent: number, depth: number): void {
    this.#tree[node] = side
    this.#parent[node] = parent
    this.#depth[node] = depth
    this.#activate(node)
  }

  /** Grows the tree at the node. @returns whether a path between the terminals was found */
  #grow(node: number): boolean {
    const { arcs, reverse } = this
    const tree = this.#tree
    const side = tree[node]!
    const first = node << this.#shift
    for (let arc = first; arc < first + this.#degree; arc++) {
      const back = reverse[arc]!
      // Flow runs away from the source and towards the sink.
      if (back < 0 || arcs[side === SOURCE ? arc : back]! <= 0) continue
      const other = back >> this.#shift
      if (tree[other] === FREE) {
        this.#stamp[other] = this.#stamp[node]!
        this.#join(other, side, back, this.#depth[node]! + 1)
      } else if (tree[other] !== side) {
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
    const to = this.reverse[bridge]! >> this.#shift
    const flow = Math.min(this.arcs[bridge]!, this.#capacityOf(from), this.#capacityOf(to))
    this.#push(bridge, flow)
    this.#drain(from, flow)
    this.#drain(to, flow)
    for (let node = this.#orphans.pop(); node !== undefined; node = this.#orphans.pop()) {
      this.#adopt(node)
    }
  }

  /** What the path between a node and its terminal can carry. */
  #capacityOf(start: number): number {
    const { arcs, reverse } = this
    const parent = this.#parent
    const fromSource = this.#tree[start] === SOURCE
    let least = Infinity
    let node = start
    for (let up = parent[node]!; up !== TERMINAL; up = parent[node]!) {
      const back = reverse[up]!
      const residual = arcs[fromSource ? back : up]!
      if (residual < least) least = residual
      node = back >> this.#shift
    }
    return Math.min(least, Math.abs(this.terminals[node]!))
  }

  /** Takes flow off the path between a node and its terminal. Nodes behind a saturated arc become orphans. */
  #drain(start: number, flow: number): void {
    const fromSource = this.#tree[start] === SOURCE
    let node = start
    for (let up = this.#parent[node]!; up !== TERMINAL; up = this.#parent[node]!) {
      const back = this.reverse[up]!
      if (this.#push(fromSource ? back : up, flow)) this.#orphan(node)
      node = back >> this.#shift
    }
    const left = Math.max(0, Math.abs(this.terminals[node]!) - flow)
    this.terminals[node] = fromSource ? left : -left
    if (left === 0) this.#orphan(node)
  }

  /** @returns whether the arc is saturated */
  #push(arc: number, flow: number): boolean {
    const { arcs } = this
    const back = this.reverse[arc]!
    arcs[back] = arcs[back]! + flow
    const left = arcs[arc]! - flow
    arcs[arc] = left > TRACE ? left : 0
    return left <= TRACE
  }

  #orphan(node: number): void {
    this.#parent[node] = ORPHAN
    this.#orphans.push(node)
  }

  /** Gives an orphan the parent nearest to their terminal. Without one it becomes free, its children orphans. */
  #adopt(node: number): void {
    const { arcs, reverse } = this
    const tree = this.#tree
    const shift = this.#shift
    const side = tree[node]!
    const first = node << shift
    const end = first + this.#degree
    let parent = NO_PARENT
    let nearest = Infinity
    for (let arc = first; arc < end; arc++) {
      const back = reverse[arc]!
      if (back < 0 || tree[back >> shift] !== side) continue
      if (arcs[side === SOURCE ? back : arc]! <= 0) continue
      const depth = this.#depthOf(back >> shift)
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
    for (let arc = first; arc < end; arc++) {
      const back = reverse[arc]!
      if (back < 0 || tree[back >> shift] !== side) continue
      const other = back >> shift
      if (arcs[side === SOURCE ? back : arc]! > 0) this.#activate(other)
      if (this.#parent[other] === back) this.#orphan(other)
    }
    tree[node] = FREE
  }

  /** The number of steps from a node to its terminal; Infinity when its path ends at an orphan. */
  #depthOf(start: number): number {
    const { reverse } = this
    const parent = this.#parent
    const stamp = this.#stamp
    const depths = this.#depth
    const time = this.#time
    let steps = 0
    let node = start
    while (stamp[node] !== time) {
      const up = parent[node]!
      if (up === ORPHAN) return Infinity
      if (up === TERMINAL) {
        stamp[node] = time
        depths[node] = 1
        break
      }
      steps++
      node = reverse[up]! >> this.#shift
    }
    const depth = steps + depths[node]!
    let left = depth
    for (node = start; stamp[node] !== time;) {
      stamp[node] = time
      depths[node] = left--
      node = reverse[parent[node]!]! >> this.#shift
    }
    return depth
  }
}
