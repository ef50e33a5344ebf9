// The ground behind old clothing.
import { LABEL, type Parsing } from '../parsing.ts'
import { localColours, roughness } from './local-colours.ts'
import { membrane } from './membrane.ts'
import { distanceTo } from '../distance.ts'
import { componentsOf, nearestIn } from './morphology.ts'
import type { Small } from './small.ts'

export interface Ground {
  /** The smooth colour, in the size of the parsing. */
  rgb: Small['rgb']
  /** Where the texture comes from: the shift to real ground, in pixels of the parsing. */
  shiftX: Int16Array
  shiftY: Int16Array
  /** The smooth colour of the real ground, three values a pixel: what is above and below it is texture. */
  low: Uint8ClampedArray
}

/** Ground nearer than this to the person is mixed with it. */
const FROM_PERSON = 3
const FROM_PAINTED = 5
/** How far, in steps of 255, ground may differ from the ground around. */
const UNUSUAL = 28

/** The ground's colours and texture, continued from the visible ground under the pixels of `painted`. */
export function groundUnder(small: Small, parsing: Parsing, painted: Uint8Array): Ground {
  const { width, height } = small
  const { labels } = parsing
  const rgb: Small['rgb'] = [small.rgb[0].slice(), small.rgb[1].slice(), small.rgb[2].slice()]
  const fromPerson = distanceTo((at) => labels[at] !== LABEL.ground, width, height)
  const near = distanceTo((at) => painted[at] === 1, width, height)
  const known = knownGround(small, labels, fromPerson, near)
  const domain = new Uint8Array(width * height).fill(1)
  // Far from all painting nothing has to be solved.
  for (let at = 0; at < known.length; at++) if (!known[at] && near[at]! > 40) domain[at] = 0
  // The membrane carries on the smooth part only, or stripes and bricks would be drawn out.
  const low = localColours(small, (at) => known[at] === 1, 4).rgb
  for (let at = 0; at < known.length; at++) {
    if (known[at]) for (let c = 0; c < 3; c++) rgb[c]![at] = low[at * 3 + c]!
  }
  membrane(rgb, known, domain, width, height)
  const ground = {
    rgb,
    low,
    shiftX: new Int16Array(known.length),
    shiftY: new Int16Array(known.length),
  }
  mirror(ground, known, near, width, height)
  return ground
}

function knownGround(
  small: Small,
  labels: Uint8Array,
  fromPerson: Float32Array,
  near: Float32Array,
): Uint8Array {
  const { width, height, rgb } = small
  const isGround = (at: number) => labels[at] === LABEL.ground
  const { numbers, areas } = componentsOf(isGround, width, height)
  const large = 0.02 * Math.max(...areas)
  const usual = localColours(small, (at) => isGround(at) && fromPerson[at]! > 8, 10)
  const unusual = UNUSUAL + 4 * roughness(small, usual, (at) => isGround(at) && fromPerson[at]! > 8)
  const known = new Uint8Array(width * height)
  for (let at = 0; at < known.length; at++) {
    if (fromPerson[at]! < FROM_PERSON || near[at]! < FROM_PAINTED || areas[numbers[at]!]! < large)
      continue
    if (near[at]! < 25 && usual.share[at]! > 0.01) {
      let gap = 0
      for (let c = 0; c < 3; c++) gap += Math.abs(rgb[c]![at]! - usual.rgb[at * 3 + c]!)
      if (gap / 3 > unusual) continue
    }
    known[at] = 1
  }
  return known
}

/** Lets the texture of painted ground be that of the ground beyond its edge, mirrored at the edge. */
function mirror(
  ground: Ground,
  known: Uint8Array,
  near: Float32Array,
  width: number,
  height: number,
): void {
  const nearest = nearestIn((at) => known[at] === 1, width, height)
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (near[at]! > 3 || nearest[at]! < 0) continue
      const dx = (nearest[at]! % width) - x
      const dy = Math.floor(nearest[at]! / width) - y
      for (const reach of [2, 1.75, 1.5, 1.25, 1]) {
        const sx = x + Math.round(dx * reach)
        const sy = y + Math.round(dy * reach)
        if (sx < 0 || sy < 0 || sx >= width || sy >= height || !known[sy * width + sx]) continue
        ground.shiftX[at] = sx - x
        ground.shiftY[at] = sy - y
        break
      }
    }
  }
}
