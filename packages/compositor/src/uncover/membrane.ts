// Smooth interpolation of values that are known at some pixels only.
import { pause } from '../pause.ts'
import type { Size } from '../raster.ts'

/** Planes of values, known at some pixels, inside a domain. */
export interface Field extends Size {
  planes: readonly Float32Array[]
  /** 1 where the values are known. */
  known: Uint8Array
  /** 1 where values are wanted; nothing flows through other pixels. */
  domain: Uint8Array
}

/** Below this many pixels on the shorter side a field is solved directly, without a coarser one. */
const COARSEST = 6
/** Pixels of a field whose planes take long. */
const LARGE = 40_000
/** Rounds of relaxation at each size, and its factor over 1: chosen by experiment, for speed and convergence. */
const ROUNDS = 14
const OVER_RELAXATION = 1.5

/**
 * Solves the screened Laplace equation inside the domain: the result equals the values where they are
 * known, is smooth elsewhere in the domain, and decays to 0 over about `decay` pixels (Infinity: not at
 * all). Changes the planes in place.
 */
export async function membrane(field: Field, decay = Infinity): Promise<void> {
  await solve(field, Number.isFinite(decay) ? 1 / (decay * decay) : 0)
}

/** Starts from the solution at half the size, where four times the screen applies. */
async function solve(field: Field, screen: number): Promise<void> {
  const { width, height, planes, known, domain } = field
  if (Math.min(width, height) > COARSEST) {
    const coarse = halved(field)
    await solve(coarse, screen * 4)
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at++) {
        if (!domain[at] || known[at]) continue
        const from = (y >> 1) * coarse.width + (x >> 1)
        for (let c = 0; c < planes.length; c++) planes[c]![at] = coarse.planes[c]![from]!
      }
    }
  }
  const free = freePixels(field)
  for (const plane of planes) {
    relax(plane, free, width, screen)
    if (width * height > LARGE) await pause()
  }
}

function halved({ width, height, planes, known, domain }: Field): Field {
  const w = (width + 1) >> 1
  const h = (height + 1) >> 1
  const coarse = {
    width: w,
    height: h,
    planes: planes.map(() => new Float32Array(w * h)),
    known: new Uint8Array(w * h),
    domain: new Uint8Array(w * h),
  }
  const count = new Uint8Array(w * h)
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const to = (y >> 1) * w + (x >> 1)
      if (!domain[at]) continue
      coarse.domain[to] = 1
      if (!known[at]) continue
      coarse.known[to] = 1
      count[to]!++
      for (let c = 0; c < planes.length; c++) coarse.planes[c]![to]! += planes[c]![at]!
    }
  }
  for (let to = 0; to < count.length; to++) {
    if (count[to]! > 1) for (const plane of coarse.planes) plane[to]! /= count[to]!
  }
  return coarse
}

interface Free {
  /** The pixels of the domain whose values are not known, and have neighbours in it. */
  pixels: Int32Array
  /** Which neighbours: 1 to the left, 2 to the right, 4 above, 8 below. */
  sides: Uint8Array
}

function freePixels({ width, height, known, domain }: Field): Free {
  const pixels = new Int32Array(domain.length)
  const sides = new Uint8Array(domain.length)
  let count = 0
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (!domain[at] || known[at]) continue
      let around = 0
      if (x > 0 && domain[at - 1]) around |= 1
      if (x + 1 < width && domain[at + 1]) around |= 2
      if (y > 0 && domain[at - width]) around |= 4
      if (y + 1 < height && domain[at + width]) around |= 8
      if (around === 0) continue
      pixels[count] = at
      sides[count++] = around
    }
  }
  return { pixels: pixels.subarray(0, count), sides }
}

/** Successive over-relaxation, alternately forwards and backwards. */
function relax(plane: Float32Array, { pixels, sides }: Free, width: number, screen: number): void {
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < pixels.length; i++) {
      const place = round % 2 === 0 ? i : pixels.length - 1 - i
      const at = pixels[place]!
      const around = sides[place]!
      let sum = 0
      let count = 4
      if (around === 15) {
        sum = plane[at - 1]! + plane[at + 1]! + plane[at - width]! + plane[at + width]!
      } else {
        count = 0
        for (let side = 0; side < 4; side++) {
          if (((around >> side) & 1) === 0) continue
          const step = side < 2 ? 1 : width
          sum += plane[side & 1 ? at + step : at - step]!
          count++
        }
      }
      plane[at]! += OVER_RELAXATION * (sum / (count + screen) - plane[at]!)
    }
  }
}
