// A photo of a person, which for a portrait that ends above the hips is continued below, so that hips and hem have a place.
import { CompositionError } from './composition-error.ts'
import { isUpper, type Garment } from './garment.ts'
import { isSeen } from './limb.ts'
import { pause } from './pause.ts'
import { unfit } from './people.ts'
import type { Perceiver, Perception } from './perception.ts'
import { ANALYSIS_SIDE, shrink, type Raster } from './raster.ts'

export interface SeenPerson {
  /** In full size; maybe longer than the photo that was given. */
  photo: Raster
  /** A copy of it, at the size of the analysis. */
  before: Raster
  seen: Perception
}

/**
 * Finds the person in a photo. A portrait that ends above the hips is continued by copies of its last row, when the garment
 * is one of the upper body.
 * @throws CompositionError when the person cannot wear the garment
 */
export async function seePerson(
  photo: Raster,
  garment: Garment,
  perceiver: Perceiver,
): Promise<SeenPerson> {
  const given = await see(photo, perceiver)
  const reason = unfit(given.seen, garment.kind)
  if (!reason) return given
  if (isUpper(garment) && mayEndAboveHips(given.seen)) {
    await pause()
    const continued = await see(continuedBelow(photo), perceiver)
    const end = photo.height / continued.photo.height
    if (!unfit(continued.seen, garment.kind, end)) return continued
  }
  throw new CompositionError('person_not_found', reason)
}

async function see(photo: Raster, perceiver: Perceiver): Promise<SeenPerson> {
  const small = shrink(photo, ANALYSIS_SIDE)
  const before = small === photo ? { ...photo, data: photo.data.slice() } : small
  return { photo, before, seen: await perceiver.perceive(before) }
}

/** Hips lower than this share of the photo are not seen: they lie below it. */
const END = 0.95

const mayEndAboveHips = ({ pose, person, face }: Perception) =>
  face !== null &&
  isSeen(pose.leftShoulder) &&
  isSeen(pose.rightShoulder) &&
  Math.max(pose.leftHip.y, pose.rightHip.y) > END * person.height

/** What is added, as a share of the photo. The hips of five portraits lay up to 0.17 below the end. */
const ADDED = 0.4

function continuedBelow({ width, height, data }: Raster): Raster {
  const longer = Math.round(height * (1 + ADDED))
  const row = width * 4
  const copy = new Uint8ClampedArray(row * longer)
  copy.set(data)
  for (let y = height; y < longer; y++) copy.copyWithin(y * row, (height - 1) * row, height * row)
  return { width, height: longer, data: copy }
}
