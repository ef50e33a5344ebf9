// Smooth interpolation of values that are known at some pixels only.

/**
 * Solves the screened Laplace equation inside `domain`: the result equals `values` where `known`,
 * is smooth elsewhere in the domain, does not flow through pixels outside of it, and decays to 0
 * over about `decay` pixels (Infinity: not at all). Changes `values` in place.
 */
export function membrane(
  values: readonly Float32Array[],
  known: Uint8Array,
  domain: Uint8Array,
  width: number,
  height: number,
  decay = Infinity,
): void {
  const screen = Number.isFinite(decay) ? 1 / (decay * decay) : 0
  solve(values, known, domain, width, height, screen)
}

const COARSEST = 6

function solve(
  values: readonly Float32Array[],
  known: Uint8Array,
  domain: Uint8Array,
  width: number,
  height: number,
  screen: number,
): void {
  if (Math.min(width, height) > COARSEST) {
    const w = (width + 1) >> 1
    const h = (height + 1) >> 1
    const coarse = values.map(() => new Float32Array(w * h))
    const coarseKnown = new Uint8Array(w * h)
    const coarseDomain = new Uint8Array(w * h)
    halve(values, known, domain, width, height, coarse, coarseKnown, coarseDomain)
    solve(coarse, coarseKnown, coarseDomain, w, h, screen * 4)
    for (const [c, plane] of values.entries()) {
      const from = coarse[c]!
      for (let y = 0, at = 0; y < height; y++) {
        for (let x = 0; x < width; x++, at++) {
          if (domain[at] && !known[at]) plane[at] = from[(y >> 1) * w + (x >> 1)]!
        }
      }
    }
  }
  for (const plane of values) relax(plane, known, domain, width, height, screen)
}

function halve(
  values: readonly Float32Array[],
  known: Uint8Array,
  domain: Uint8Array,
  width: number,
  height: number,
  coarse: readonly Float32Array[],
  coarseKnown: Uint8Array,
  coarseDomain: Uint8Array,
): void {
  const w = (width + 1) >> 1
  const count = new Uint8Array(coarseKnown.length)
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const to = (y >> 1) * w + (x >> 1)
      if (!domain[at]) continue
      coarseDomain[to] = 1
      if (!known[at]) continue
      coarseKnown[to] = 1
      count[to] = count[to]! + 1
      for (const [c, plane] of values.entries()) coarse[c]![to] = coarse[c]![to]! + plane[at]!
    }
  }
  for (let to = 0; to < count.length; to++) {
    if (count[to]! > 1) for (const plane of coarse) plane[to] = plane[to]! / count[to]!
  }
}

const ROUNDS = 14

/** Successive over-relaxation, alternately forwards and backwards. */
function relax(
  plane: Float32Array,
  known: Uint8Array,
  domain: Uint8Array,
  width: number,
  height: number,
  screen: number,
): void {
  const free: number[] = []
  for (let at = 0; at < plane.length; at++) if (domain[at] && !known[at]) free.push(at)
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < free.length; i++) {
      const at = free[round % 2 === 0 ? i : free.length - 1 - i]!
      const x = at % width
      let sum = 0
      let count = 0
      if (x > 0 && domain[at - 1]) {
        sum += plane[at - 1]!
        count++
      }
      if (x + 1 < width && domain[at + 1]) {
        sum += plane[at + 1]!
        count++
      }
      if (at >= width && domain[at - width]) {
        sum += plane[at - width]!
        count++
      }
      if (at + width < width * height && domain[at + width]) {
        sum += plane[at + width]!
        count++
      }
      if (count > 0) plane[at] = plane[at]! + 1.5 * (sum / (count + screen) - plane[at]!)
    }
  }
}
