// Connected sets of pixels, and the nearest pixel of a set.

/** Numbers the connected sets of pixels from 1; 0 is outside. `areas[number]` counts their pixels. */
export function componentsOf(
  set: (at: number) => boolean,
  width: number,
  height: number,
): { numbers: Int32Array; areas: number[] } {
  const numbers = new Int32Array(width * height)
  const areas = [0]
  const stack: number[] = []
  for (let start = 0; start < numbers.length; start++) {
    if (numbers[start] || !set(start)) continue
    const number = areas.length
    let area = 0
    numbers[start] = number
    stack.push(start)
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      area++
      const x = at % width
      for (const other of [
        x > 0 ? at - 1 : -1,
        x + 1 < width ? at + 1 : -1,
        at - width,
        at + width,
      ]) {
        if (other < 0 || other >= numbers.length || numbers[other] || !set(other)) continue
        numbers[other] = number
        stack.push(other)
      }
    }
    areas.push(area)
  }
  return { numbers, areas }
}

/** For every pixel one of the nearest pixels of the set; −1 everywhere when the set is empty. */
export function nearestIn(set: (at: number) => boolean, width: number, height: number): Int32Array {
  const nearest = new Int32Array(width * height).fill(-1)
  for (let at = 0; at < nearest.length; at++) if (set(at)) nearest[at] = at
  const offer = (at: number, x: number, y: number, from: number) => {
    const candidate = nearest[from]!
    if (candidate < 0) return
    const current = nearest[at]!
    if (current < 0 || squared(candidate, x, y, width) < squared(current, x, y, width))
      nearest[at] = candidate
  }
  for (const down of [true, false]) {
    for (let i = 0; i < nearest.length; i++) {
      const at = down ? i : nearest.length - 1 - i
      const x = at % width
      const y = (at - x) / width
      const row = down ? at - width : at + width
      const inside = down ? y > 0 : y + 1 < height
      if (x > 0 && down) offer(at, x, y, at - 1)
      if (x + 1 < width && !down) offer(at, x, y, at + 1)
      if (!inside) continue
      for (const dx of [-1, 0, 1]) if (x + dx >= 0 && x + dx < width) offer(at, x, y, row + dx)
    }
  }
  return nearest
}

const squared = (at: number, x: number, y: number, width: number) =>
  ((at % width) - x) ** 2 + (Math.floor(at / width) - y) ** 2
