// What a model of our own sees: the part of a person that each pixel shows.
import { boxAround, type Box, type Perceiver, type Perception } from '../perception.ts'
import { PARTS } from '../person-models.ts'
import { clamp, ramp, within, type Raster, type Size } from '../raster.ts'
import { bodyOf } from './body.ts'
import { frameOf, type Frame } from './frame.ts'
import { LABEL, LABEL_COUNT } from './labels.ts'

const { side: SIDE, channels: PLANES } = PARTS
/** The places of `Frame` from 0 to 1, as the model knows them. */
const PLACES = {
  down: [-1.5, 3.5],
  across: [0, 2],
  distance: [0, 1.5],
  joint: [0, 3],
  face: [0, 4],
}
/**
 * The least probability of a person on a bone, and on a forearm, whose joints are seen best. It holds up to the first distance
 * from the bone, in shoulder widths, and no longer from the second.
 */
const BONE = { least: 0.6, onForearm: 0.995, forearm: [0.8, 2], near: 0.04, far: 0.1 } as const
/** Where the picture is sampled in one pixel of the model, across and down. */
const SAMPLES = [
  [0.25, 0.25],
  [0.75, 0.25],
  [0.25, 0.75],
  [0.75, 0.75],
] as const
/** The most that a label costs, by experiment. */
const MOST = 8

/** What the model saw, for `sightCosts`. */
export interface Sight {
  /** Of the picture that it looked at. */
  size: Size
  box: Box
  /** For each pixel of the model, the logarithm of each label's probability, up to the same number. */
  logits: Float32Array
}

/** Looks at the person in a picture. */
export async function look(
  picture: Raster,
  perception: Perception,
  perceiver: Perceiver,
): Promise<Sight> {
  const box = boxOf(perception)
  const { planes, bones } = planesOf(picture, perception, box, SIDE)
  const logits = await perceiver.parts(planes)
  for (let k = 0; k < bones.length; k++) {
    logits[k * LABEL_COUNT + LABEL.ground]! += Math.log(1 - bones[k]!)
  }
  return { size: picture, box, logits }
}

/** The part of a picture that the model looks at: around the person, or all of it without one. */
export const boxOf = ({ person, pose }: Perception): Box =>
  boxAround(person, pose) ?? { x: 0, y: 0, width: person.width, height: person.height }

/**
 * A box of the picture as the model sees it: red, green and blue, whether there is a person, and where that is on the body, from
 * 0 to 1. Outside of the picture its border goes on.
 * @param side of the square to which the box is stretched, in pixels
 * @returns also the least probability of a person at each pixel, along bones
 */
export function planesOf(
  picture: Raster,
  { pose, person }: Perception,
  box: Box,
  side: number,
): { planes: Float32Array; bones: Float32Array } {
  const planes = new Float32Array(side * side * PLANES)
  for (const [across, down] of SAMPLES) {
    const under = pixelsUnder(picture, box, side, across, down)
    for (let k = 0; k < under.length; k++) {
      for (let c = 0; c < 3; c++) {
        planes[k * PLANES + c]! += picture.data[under[k]! * 4 + c]! / 255 / SAMPLES.length
      }
    }
  }
  const middle = pixelsUnder(picture, box, side, 0.5, 0.5)
  const frame = frameOf(bodyOf(pose), picture.width, middle)
  const bones = new Float32Array(middle.length).map((_, k) => onBone(frame, k))
  const { down, across, distance, joint, face } = PLACES
  for (let k = 0; k < middle.length; k++) {
    const values = [
      Math.max(person.data[middle[k]!]!, bones[k]!),
      share(frame.down[k]!, down),
      share(Math.abs(frame.across[k]!), across),
      share(frame.armDistance[k]!, distance),
      share(frame.armAt[k]!, joint),
      share(frame.legDistance[k]!, distance),
      share(frame.legAt[k]!, joint),
      share(frame.face[k]!, face),
    ]
    planes.set(values, k * PLANES + 3)
  }
  return { planes, bones }
}

/** The least probability of a person, along bones: the mask and the model can miss a limb that looks like the ground. */
function onBone({ armDistance, armAt, legDistance }: Frame, k: number): number {
  const near = (distance: number) => ramp(-distance, -BONE.far, -BONE.near)
  const onArm = within(armAt[k]!, BONE.forearm) ? BONE.onForearm : BONE.least
  return Math.max(onArm * near(armDistance[k]!), BONE.least * near(legDistance[k]!))
}

const share = (value: number, [from, to]: number[]) => clamp((value - from!) / (to! - from!), 0, 1)

/** The pixels of the picture at one place within each pixel of the square. */
function pixelsUnder(
  { width, height }: Size,
  box: Box,
  side: number,
  across: number,
  down: number,
): Int32Array {
  const at = (start: number, step: number, end: number) =>
    clamp(Math.floor(start + step), 0, end - 1)
  return new Int32Array(side * side).map((_, k) => {
    const x = at(box.x, (((k % side) + across) / side) * box.width, width)
    const y = at(box.y, ((Math.floor(k / side) + down) / side) * box.height, height)
    return y * width + x
  })
}

/**
 * What each label costs at the listed pixels of a picture: the negative logarithm of its probability.
 * @param size of that picture, which may have another scale than the one that was looked at
 */
export function sightCosts(
  { size, box, logits }: Sight,
  to: Size,
  pixels: Int32Array,
): Float32Array {
  const costs = new Float32Array(pixels.length * LABEL_COUNT)
  const found = new Float64Array(LABEL_COUNT)
  for (let n = 0; n < pixels.length; n++) {
    const i = pixels[n]!
    const u = placeIn(box.x, box.width, ((i % to.width) + 0.5) * (size.width / to.width))
    const v = placeIn(
      box.y,
      box.height,
      (Math.floor(i / to.width) + 0.5) * (size.height / to.height),
    )
    const out = n * LABEL_COUNT
    if (Number.isNaN(u + v)) {
      costs.fill(MOST, out, out + LABEL_COUNT)
      costs[out + LABEL.ground] = 0
      continue
    }
    const [x, y] = [Math.min(SIDE - 2, Math.floor(u)), Math.min(SIDE - 2, Math.floor(v))]
    const at = (y * SIDE + x) * LABEL_COUNT
    const [right, below] = [LABEL_COUNT, SIDE * LABEL_COUNT]
    let most = -Infinity
    for (let label = 0; label < LABEL_COUNT; label++) {
      const p = at + label
      const upper = logits[p]! + (u - x) * (logits[p + right]! - logits[p]!)
      const lower = logits[p + below]! + (u - x) * (logits[p + below + right]! - logits[p + below]!)
      found[label] = upper + (v - y) * (lower - upper)
      most = Math.max(most, found[label]!)
    }
    let sum = 0
    for (let label = 0; label < LABEL_COUNT; label++) sum += Math.exp(found[label]! - most)
    const all = most + Math.log(sum)
    for (let label = 0; label < LABEL_COUNT; label++) {
      costs[out + label] = Math.min(MOST, all - found[label]!)
    }
  }
  return costs
}

/** Where a coordinate is in the model's square, from the middle of its first to that of its last pixel; NaN outside. */
function placeIn(start: number, length: number, value: number): number {
  const place = (value - start) / length
  return place < 0 || place > 1 ? NaN : clamp(place * SIDE - 0.5, 0, SIDE - 1)
}
