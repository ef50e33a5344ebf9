// The ground behind old clothing.
import { LABEL, type Parsing } from '../parsing.ts'
import { completeFromExemplars } from './exemplars.ts'
import { localColours, roughness } from './local-colours.ts'
import { membrane } from './membrane.ts'
import { pause } from '../pause.ts'
import { distanceTo } from '../distance.ts'
import { numberPieces } from '../pieces.ts'
import { median } from '../plane.ts'
import { markWhere, pixelsWhere } from '../raster.ts'
import type { Channels, Small } from './small.ts'

export interface Ground {
  /** The colour, in the size of the parsing. */
  rgb: Channels
  /** The pixel of the real ground that has the same texture; −1 for none. */
  source: Int32Array
}

// Pixels of the parsing, unless a line says otherwise; chosen by experiment on the development photographs.
/** Ground nearer than this to the person, or to what is painted, is mixed with it. */
const FROM_PERSON = 3
const FROM_PAINTED = 5
/** Ground farther than this from the person has no shadow: the usual colours around are learned from it. */
const OPEN = 8
const USUAL_REACH = 10
/** Near what is painted, ground that differs from the usual one is taken for a rest of cloth or a shadow. */
const SUSPECT = 25
/** How far, in steps of 255, ground may differ from the ground around, and more on rough ground. */
const UNUSUAL = 28
const ROUGH = 4
/** The least share of usual ground around that says something, and the least part of the largest piece of ground. */
const LEAST_USUAL = 0.01
const LEAST_PIECE = 0.02
/** Farther than this from all painting nothing has to be solved. */
const SOLVED = 40
/** The reach of the smooth colour, which is the first guess. */
const LOW_REACH = 4
/**
 * The median by which plain ground around differs from its smooth colour, in steps of 255: nothing in it could be repeated, but
 * its light changes. It is 1.5 and more before most streets, walls and plants, and at most 1.1 in studios.
 */
const PLAIN = 1.25
/** How far around what is painted ground is found: under the edges of skin and cloth, too, so that it is whole there. */
const AROUND = 6

/** The ground under the pixels of `painted`, continued from the visible ground. */
export async function groundUnder(
  small: Small,
  parsing: Parsing,
  painted: Uint8Array,
): Promise<Ground> {
  const { labels } = parsing
  const rgb: Channels = [small.rgb[0].slice(), small.rgb[1].slice(), small.rgb[2].slice()]
  const fromPerson = distanceTo(small, (at) => labels[at] !== LABEL.ground)
  const near = distanceTo(small, (at) => painted[at] === 1)
  const known = knownGround(small, labels, fromPerson, near)
  await pause()
  const domain = markWhere(known.length, (at) => known[at] === 1 || near[at]! <= SOLVED)
  // The membrane carries on the smooth part only, or stripes and bricks would be drawn out.
  const low = localColours(small, (at) => known[at] === 1, LOW_REACH).rgb
  for (let at = 0; at < known.length; at++) {
    if (known[at]) for (let c = 0; c < 3; c++) rgb[c]![at] = low[at * 3 + c]!
  }
  await pause()
  await membrane({ width: small.width, height: small.height, planes: rgb, known, domain })
  const offs = pixelsWhere(known.length, (at) => known[at] === 1 && near[at]! < SOLVED).map((at) =>
    Math.abs(small.rgb[1][at]! - low[at * 3 + 1]!),
  )
  if (median(offs) < PLAIN) return { rgb, source: new Int32Array(known.length).fill(-1) }
  for (const at of pixelsWhere(known.length, (i) => known[i] === 1)) {
    for (let c = 0; c < 3; c++) rgb[c]![at] = small.rgb[c]![at]!
  }
  const hole = markWhere(known.length, (at) => known[at] === 0 && near[at]! <= AROUND)
  return { rgb, source: await completeFromExemplars({ ...small, rgb, known, hole }) }
}

function knownGround(
  small: Small,
  labels: Uint8Array,
  fromPerson: Float32Array,
  near: Float32Array,
): Uint8Array {
  const isGround = (at: number) => labels[at] === LABEL.ground
  const isOpen = (at: number) => isGround(at) && fromPerson[at]! > OPEN
  const { numbers, areas } = numberPieces(small, isGround)
  const large = LEAST_PIECE * Math.max(...areas)
  const usual = localColours(small, isOpen, USUAL_REACH)
  const unusual = UNUSUAL + ROUGH * roughness(small, usual, isOpen)
  return markWhere(labels.length, (at) => {
    if (fromPerson[at]! < FROM_PERSON || near[at]! < FROM_PAINTED) return false
    if (areas[numbers[at]!]! < large) return false
    if (near[at]! >= SUSPECT || usual.share[at]! <= LEAST_USUAL) return true
    let gap = 0
    for (let c = 0; c < 3; c++) gap += Math.abs(small.rgb[c]![at]! - usual.rgb[at * 3 + c]!)
    return gap / 3 <= unusual
  })
}
