// Distances to sets of pixels.

/**
 * The distance of every pixel to the nearest pixel of the set, in pixels; 0 in the set. Chamfer distance,
 * some percent off. 1e6 everywhere when the set is empty.
 */
export function distanceTo(
  set: (at: number) => boolean,
  width: number,
  height: number,
): Float32Array {
  const far = new Float32Array(width * height)
  for (let at = 0; at < far.length; at++) far[at] = set(at) ? 0 : 1e6
  const DIAGONAL = Math.SQRT2
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      let best = far[at]!
      if (best === 0) continue
      if (x > 0) best = Math.min(best, far[at - 1]! + 1)
      if (y > 0) {
        best = Math.min(best, far[at - width]! + 1)
        if (x > 0) best = Math.min(best, far[at - width - 1]! + DIAGONAL)
        if (x + 1 < width) best = Math.min(best, far[at - width + 1]! + DIAGONAL)
      }
      far[at] = best
    }
  }
  for (let y = height - 1, at = far.length - 1; y >= 0; y--) {
    for (let x = width - 1; x >= 0; x--, at--) {
      let best = far[at]!
      if (best === 0) continue
      if (x + 1 < width) best = Math.min(best, far[at + 1]! + 1)
      if (y + 1 < height) {
        best = Math.min(best, far[at + width]! + 1)
        if (x > 0) best = Math.min(best, far[at + width - 1]! + DIAGONAL)
        if (x + 1 < width) best = Math.min(best, far[at + width + 1]! + DIAGONAL)
      }
      far[at] = best
    }
  }
  return far
}
