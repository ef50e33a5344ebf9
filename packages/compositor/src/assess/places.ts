// Where on the body a garment of a kind must be, and what it replaces there.
import type { PixelSet } from './area.ts'
import type { Body } from '../body.ts'
import { isUpper, type Garment } from '../garment.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import { percentile } from '../plane.ts'
import { pixelsWhere } from '../raster.ts'

interface Facts {
  garment: Garment
  parsing: Parsing
}

/** Where each pixel is: across in half-widths of the torso, along in lengths of the torso. */
export interface Places {
  x: Float32Array
  y: Float32Array
}

/** Measures the pixels of a set; the others have no place. */
export function placesIn({ width, height }: Parsing, body: Body, isIn: PixelSet): Places {
  const places = {
    x: new Float32Array(width * height).fill(NaN),
    y: new Float32Array(width * height).fill(NaN),
  }
  for (const i of pixelsWhere(width * height, isIn)) {
    const at = body.frame.toFrame({ x: (i % width) + 0.5, y: Math.floor(i / width) + 0.5 })
    const edge = Math.abs(body.edgeAt(at.x < 0 ? -1 : 1, at.y)) || 1
    places.x[i] = at.x / edge
    places.y[i] = at.y / body.torso
  }
  return places
}

/** Where any garment of a kind has cloth: from and to, in lengths of the torso, and half-widths of the torso. */
const EXPECTED: Record<Garment['kind'], readonly [top: number, bottom: number, half: number]> = {
  top: [0.3, 0.55, 0.8],
  dress: [0.3, 1.25, 0.75],
  trousers: [1.02, 1.4, 0.8],
  skirt: [1.02, 1.3, 0.7],
}

/** The pixels that any garment of this kind covers, unless something is in front of it. */
export function expectedArea({ garment, parsing: { labels } }: Facts, places: Places): PixelSet {
  const [top, bottom, half] = EXPECTED[garment.kind]
  // A top stays in front of new trousers; a dress does not.
  const isInFront = !isUpper(garment) && labels.includes(LABEL.bottom)
  return (i) =>
    (labels[i] === LABEL.bottom || (labels[i] === LABEL.top && !isInFront)) &&
    places.y[i]! > top &&
    places.y[i]! < bottom &&
    Math.abs(places.x[i]!) < half
}

/** Half the width in which the hem is read, in half-widths of the torso: sleeves may end below it. */
const TORSO = 0.75
/** The pixels from one to the next of which the heights of the garment's ends are read. */
const SAMPLES = 17

/** The old clothing that the garment replaces: that above its hem, or below its waist. */
export function replacedArea(
  { garment, parsing: { labels } }: Facts,
  places: Places,
  isDrawn: PixelSet,
) {
  const rows: number[] = []
  const isTorso = (i: number) => Math.abs(places.x[i]!) < TORSO
  for (let i = 0; i < labels.length; i += SAMPLES) {
    if (isDrawn(i) && isTorso(i)) rows.push(places.y[i]!)
  }
  const [first, last] = [percentile(rows, 0.02), percentile(rows, 0.98)]
  const isOld = oldClothes(garment.kind)
  return (i: number) =>
    isOld(labels[i]!) && (isUpper(garment) ? places.y[i]! < last : places.y[i]! > first)
}

/** Which labels the garment replaces. */
function oldClothes(kind: Garment['kind']): (label: number) => boolean {
  if (kind === 'top') return (label) => label === LABEL.top
  if (kind === 'dress') return (label) => label === LABEL.top || label === LABEL.bottom
  return (label) => label === LABEL.bottom
}
