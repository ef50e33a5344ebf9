// The minimum cut of a grid of pixels by the algorithm of Boykov and Kolmogorov (2004): two search trees
// grow from the source and the sink and are repaired after each augmentation.

const FREE = 0
const SOURCE = 1
const SINK = 2
const NO_PARENT = 255
const TERMINAL = 254
const ORPHAN = 253

/** A grid whose pixels are connected with their four neighbours. */
export interface Grid {
  width: number
  height: number
  /** Per pixel: how much it costs to cut it off its terminal; positive pulls to the source. */
  terminal: Float32Array
  /** Per pixel and direction (left, right, up, down) the cost of cutting the connection. */
  links: Float32Array
}

/** The link from the other end: left is the opposite of right, up of down. */
const opposite = (way: number) => way ^ 1

/**
 * Cuts the grid where it is cheapest. Uses up the grid's numbers.
 * @returns 1 for pixels on the source's side, 0 for the others
 */
export function minimumCut(grid: Grid): Uint8Array {
  const { width, height, terminal, links } = grid
  const size = width * height
  const offset = [-1, 1, -width, width]
  const tree = new Uint8Array(size)
  const parent = new Uint8Array(size).fill(NO_PARENT)
  const depth = new Int32Array(size)
  const stamp = new Int32Array(size)
  const queue = new Int32Array(size + 1)
  const queued = new Uint8Array(size)
  let head = 0
  let tail = 0
  let time = 0
  const orphans: number[] = []

  const activate = (node: number) => {
    if (queued[node] === 1) return
    queued[node] = 1
    queue[tail] = node
    tail = tail === size ? 0 : tail + 1
  }
  const neighbour = (node: number, way: number) => {
    if (way === 0 && node % width === 0) return -1
    if (way === 1 && node % width === width - 1) return -1
    const next = node + offset[way]!
    return next < 0 || next >= size ? -1 : next
  }

  for (let node = 0; node < size; node++) {
    if (terminal[node] === 0) continue
    tree[node] = terminal[node]! > 0 ? SOURCE : SINK
    parent[node] = TERMINAL
    depth[node] = 1
    activate(node)
  }

  /** Grows the trees from the next active pixel; returns the link that joins them, or -1. */
  const grow = (): number => {
    while (head !== tail) {
      const node = queue[head]!
      const own = tree[node]!
      if (own !== FREE) {
        for (let way = 0; way < 4; way++) {
          const next = neighbour(node, way)
          if (next < 0) continue
          const residual =
            own === SOURCE ? links[node * 4 + way]! : links[next * 4 + opposite(way)]!
          if (residual <= 0) continue
          if (tree[next] === FREE) {
            tree[next] = own
            parent[next] = opposite(way)
            depth[next] = depth[node]! + 1
            stamp[next] = stamp[node]!
            activate(next)
          } else if (tree[next] !== own) {
            return own === SOURCE ? node * 4 + way : next * 4 + opposite(way)
          } else if (stamp[next]! <= stamp[node]! && depth[next]! > depth[node]!) {
            parent[next] = opposite(way)
            depth[next] = depth[node]! + 1
            stamp[next] = stamp[node]!
          }
        }
      }
      head = head === size ? 0 : head + 1
      queued[node] = 0
    }
    return -1
  }

  /** The pixel that the tree's pixel hangs on. */
  const above = (node: number) => node + offset[parent[node]!]!

  const orphan = (node: number) => {
    parent[node] = ORPHAN
    orphans.push(node)
  }

  const augment = (link: number) => {
    const from = link >> 2
    const to = from + offset[link & 3]!
    let least = links[link]!
    let node = from
    for (; parent[node] !== TERMINAL; node = above(node)) {
      least = Math.min(least, links[above(node) * 4 + opposite(parent[node]!)]!)
    }
    least = Math.min(least, terminal[node]!)
    for (node = to; parent[node] !== TERMINAL; node = above(node)) {
      least = Math.min(least, links[node * 4 + parent[node]!]!)
    }
    least = Math.min(least, -terminal[node]!)

    links[link] = links[link]! - least
    const back = to * 4 + opposite(link & 3)
    links[back] = links[back]! + least
    for (node = from; parent[node] !== TERMINAL;) {
      const up = above(node)
      const down = up * 4 + opposite(parent[node]!)
      const reverse = node * 4 + parent[node]!
      links[reverse] = links[reverse]! + least
      links[down] = links[down]! - least
      if (links[down]! <= 0) orphan(node)
      node = up
    }
    terminal[node] = terminal[node]! - least
    if (terminal[node]! <= 0) orphan(node)
    for (node = to; parent[node] !== TERMINAL;) {
      const up = above(node)
      const forward = node * 4 + parent[node]!
      const reverse = up * 4 + opposite(parent[node]!)
      links[reverse] = links[reverse]! + least
      links[forward] = links[forward]! - least
      if (links[forward]! <= 0) orphan(node)
      node = up
    }
    terminal[node] = terminal[node]! + least
    if (terminal[node]! >= 0) orphan(node)
  }

  /** The number of steps to the terminal; Infinity when the pixel hangs on an orphan. */
  const depthOf = (start: number): number => {
    let steps = 0
    let node = start
    while (true) {
      if (stamp[node] === time) {
        steps += depth[node]!
        break
      }
      const way = parent[node]!
      steps++
      if (way === TERMINAL) {
        stamp[node] = time
        depth[node] = 1
        break
      }
      if (way === ORPHAN || way === NO_PARENT) return Infinity
      node = above(node)
    }
    let left = steps
    for (node = start; stamp[node] !== time; node = above(node)) {
      stamp[node] = time
      depth[node] = left--
    }
    return steps
  }

  const adopt = (node: number) => {
    const own = tree[node]!
    let best = -1
    let least = Infinity
    for (let way = 0; way < 4; way++) {
      const next = neighbour(node, way)
      if (next < 0 || tree[next] !== own) continue
      const residual = own === SOURCE ? links[next * 4 + opposite(way)]! : links[node * 4 + way]!
      if (residual <= 0) continue
      const steps = depthOf(next)
      if (steps < least) {
        least = steps
        best = way
      }
    }
    if (best >= 0) {
      parent[node] = best
      stamp[node] = time
      depth[node] = least + 1
      return
    }
    for (let way = 0; way < 4; way++) {
      const next = neighbour(node, way)
      if (next < 0 || tree[next] !== own) continue
      const residual = own === SOURCE ? links[next * 4 + opposite(way)]! : links[node * 4 + way]!
      if (residual > 0) activate(next)
      if (parent[next] === opposite(way)) orphan(next)
    }
    tree[node] = FREE
    parent[node] = NO_PARENT
  }

  for (let link = grow(); link >= 0; link = grow()) {
    time++
    augment(link)
    for (let i = 0; i < orphans.length; i++) adopt(orphans[i]!)
    orphans.length = 0
  }
  const side = new Uint8Array(size)
  for (let node = 0; node < size; node++) if (tree[node] === SOURCE) side[node] = 1
  return side
}
