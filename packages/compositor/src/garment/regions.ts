// Connected regions of a mask of bytes (0 or 1).

export interface Mask {
  width: number
  height: number
  data: Uint8Array
}

/** Marks every pixel that is connected to the border through pixels that `passable` allows. */
export function flood(
  width: number,
  height: number,
  passable: (index: number) => boolean,
  seeds: 'all borders' | 'sides and top' = 'all borders',
): Mask {
  const data = new Uint8Array(width * height)
  const stack: number[] = []
  const visit = (index: number) => {
    if (data[index] === 0 && passable(index)) {
      data[index] = 1
      stack.push(index)
    }
  }
  for (let x = 0; x < width; x++) {
    visit(x)
    if (seeds === 'all borders') visit((height - 1) * width + x)
  }
  for (let y = 0; y < height; y++) {
    visit(y * width)
    visit(y * width + width - 1)
  }
  while (stack.length > 0) {
    const index = stack.pop()!
    const x = index % width
    if (x > 0) visit(index - 1)
    if (x < width - 1) visit(index + 1)
    if (index >= width) visit(index - width)
    if (index < data.length - width) visit(index + width)
  }
  return { width, height, data }
}

/**
 * A flood fill that does not pass narrow gaps, such as places where the subject's outline fades into
 * the background for a few pixels. Passable pixels within `reach` of the flood count as reached.
 */
export function floodThick(
  passable: Mask,
  reach: number,
  seeds: 'all borders' | 'sides and top',
): Mask {
  const { width, height } = passable
  const open = erode(passable, reach)
  const flooded = flood(width, height, (index) => open.data[index] === 1, seeds)
  const grown = erode({ width, height, data: flooded.data.map((value) => 1 - value) }, reach)
  const data = grown.data.map((value, index) => (value === 0 && passable.data[index] === 1 ? 1 : 0))
  return { width, height, data }
}

/** Erosion: the pixels whose whole neighbourhood, a square of 2 × reach + 1, is set. */
function erode({ width, height, data }: Mask, reach: number): Mask {
  const across = new Uint8Array(data.length)
  const result = new Uint8Array(data.length)
  for (let y = 0; y < height; y++) erodeLine(data, across, y * width, 1, width, reach)
  for (let x = 0; x < width; x++) erodeLine(across, result, x, width, height, reach)
  return { width, height, data: result }
}

function erodeLine(
  from: Uint8Array,
  to: Uint8Array,
  start: number,
  step: number,
  length: number,
  reach: number,
): void {
  // How far back the last unset pixel lies, looking `reach` ahead.
  let since = reach
  for (let i = 0; i < length + reach; i++) {
    since = i < length && from[start + i * step] === 0 ? 0 : since + 1
    if (i >= reach) to[start + (i - reach) * step] = since > 2 * reach ? 1 : 0
  }
}

export interface Region {
  size: number
  /** Indices of its pixels. */
  pixels: Int32Array
}

/** The regions of pixels with value `of`, largest first, without those below `minSize`. */
export function regions(mask: Mask, of: 0 | 1, minSize = 1): Region[] {
  const { width, height, data } = mask
  const seen = new Uint8Array(data.length)
  const queue = new Int32Array(data.length)
  const found: Region[] = []
  for (let start = 0; start < data.length; start++) {
    if (seen[start] === 1 || data[start] !== of) continue
    let head = 0
    let tail = 0
    queue[tail++] = start
    seen[start] = 1
    while (head < tail) {
      const index = queue[head++]!
      const x = index % width
      for (let side = 0; side < 4; side++) {
        if (side === 0 && x === 0) continue
        if (side === 1 && x === width - 1) continue
        const next = index + (side === 0 ? -1 : side === 1 ? 1 : side === 2 ? -width : width)
        if (next < 0 || next >= width * height || seen[next] === 1 || data[next] !== of) continue
        seen[next] = 1
        queue[tail++] = next
      }
    }
    if (tail >= minSize) found.push({ size: tail, pixels: queue.slice(0, tail) })
  }
  return found.sort((one, other) => other.size - one.size)
}

/** Keeps the largest region and those at least `share` of its size. */
export function keepLarge(mask: Mask, share: number): Mask {
  const data = new Uint8Array(mask.data.length)
  const found = regions(mask, 1)
  const least = (found[0]?.size ?? 0) * share
  for (const region of found) {
    if (region.size < least) break
    for (const index of region.pixels) data[index] = 1
  }
  return { ...mask, data }
}

/** How many pixels are set. */
export function area(mask: Mask): number {
  let count = 0
  for (const value of mask.data) count += value
  return count
}
