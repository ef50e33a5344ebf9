// What the models see in a picture: which pixels are a person, where the joints are, where the face is.
import {
  loadPersonModels,
  type Box,
  type Joint,
  type PersonModels,
  type Pose,
} from './person-models.ts'
import { pause } from './pause.ts'
import { createPlane, type Plane } from './plane.ts'
import { lerp, ramp, type Raster } from './raster.ts'
import { startBackend, type TensorUsage } from './tensor-backend.ts'
import type { ModelFiles } from './tensor-model.ts'

export { JOINTS } from './person-models.ts'
export type { Box, Joint, JointName, Pose } from './person-models.ts'

export interface Perception {
  pose: Pose
  /** The probability from 0 to 1 that a pixel belongs to a person, in the size of the picture. */
  person: Plane
  /**
   * From the hairline to the chin and from ear to ear. Of a cropped head, parts of the box lie outside
   * the picture. Null when the face is not visible.
   */
  face: Box | null
}

/** What shortens a look. */
export interface Look {
  /** Whether there may be a person, from the roughest look; without one the mask is empty. */
  isPossible?: (pose: Pose) => boolean
  /** Whether a close look at the mask is worthwhile; without one it stays rough. */
  isWorthwhile?: (pose: Pose) => boolean
}

export interface PerceptionModules {
  /** The binary `tfjs-backend-wasm-simd.wasm`. */
  backend: WebAssembly.Module
  movenet: ModelFiles
  selfie: ModelFiles
  u2netp: ModelFiles
  opening: ModelFiles
  parts: ModelFiles
  product: ModelFiles
}

export interface Perceiver {
  /** Looks at the picture of one person. Never changes the picture. */
  perceive(picture: Raster, look?: Look): Promise<Perception>
  /** The probability from 0 to 1 that a pixel belongs to what stands out, in the size of the picture. */
  salience(picture: Raster): Promise<Plane>
  /**
   * The probability from 0 to 1 that a pixel belongs to what the neck opening of a garment shows, in the size of the picture.
   * @param picture the cloth on magenta
   * @param box its upper part, a square
   */
  opening(picture: Raster, box: Box): Promise<Plane>
  /** See `PersonModels.product`. */
  product(picture: Raster): Promise<Uint8Array>
  /** See `PersonModels.parts`. */
  parts(planes: Float32Array): Promise<Float32Array>
  /** What the models use at the moment. */
  usage(): TensorUsage
}

let started: Promise<Perceiver> | undefined

/**
 * Starts the models at the first call and returns the same perceiver at every later one, because
 * TensorFlow.js has one state for the whole isolate. They keep 33 to 35 MB of WebAssembly memory.
 * A failed start is tried again at the next call.
 * @param load called for each start
 * @throws the errors of `load`; Error when a file is damaged
 */
export function createPerceiver(load: () => Promise<PerceptionModules>): Promise<Perceiver> {
  started ??= start(load).catch((cause: unknown) => {
    started = undefined
    throw cause
  })
  return started
}

async function start(load: () => Promise<PerceptionModules>): Promise<Perceiver> {
  const modules = await load()
  const usage = await startBackend(modules.backend)
  const models = await loadPersonModels(modules)
  const guarded = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result
    } catch (cause) {
      // The memory of a binary that trapped may be corrupt.
      started = undefined
      throw cause
    }
  }
  return {
    usage,
    perceive: (picture, look = {}) => guarded(perceive(models, picture, look)),
    salience: (picture) => guarded(models.salience(picture)),
    product: (picture) => guarded(models.product(picture)),
    parts: (planes) => guarded(models.parts(planes)),
    opening: (picture, box) => guarded(models.opening(picture, box)),
  }
}

/** First the whole picture, then the part around the person, then the upper body: each is sharper. */
async function perceive(
  models: PersonModels,
  picture: Raster,
  { isPossible, isWorthwhile }: Look,
): Promise<Perception> {
  const whole = { x: 0, y: 0, width: picture.width, height: picture.height }
  await pause()
  let pose = await models.pose(picture, whole)
  await pause()
  let person = createPlane(picture.width, picture.height)
  if (isPossible?.(pose) === false) return { pose, person, face: null }
  person = await models.mask(picture, whole)
  await pause()
  const box = boxAround(person, pose)
  if (box) {
    pose = await models.pose(picture, box)
    await pause()
    if (isWorthwhile?.(pose) ?? true) {
      person = await models.mask(picture, box)
      await pause()
      clearOutside(person, box)
      const upper = upperBodyOf(pose, box)
      if (upper) fadeInto(person, await models.mask(picture, upper), upper)
    }
  }
  return { pose, person, face: faceOf(pose) }
}

/** Below this score a joint is mostly a guess: hidden, outside the picture, or there is no person. */
const CONFIDENT = 0.3

/** Whether the model saw the joint, rather than guessed where it would be. */
export const isConfident = (joint: Joint): boolean => joint.score >= CONFIDENT

/** A joint with at least this score extends the box of the person. */
const PLAUSIBLE = 0.2

/** Around the person, as a share of the longer side of the box; the models expect some. By experiment. */
const MARGIN = 0.08

/** The box of the person with a margin; null without a person. */
export function boxAround(mask: Plane, pose: Pose): Box | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  const include = (x: number, y: number) => {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  for (let y = 0; y < mask.height; y++) {
    const row = mask.data.subarray(y * mask.width, (y + 1) * mask.width)
    const first = row.findIndex(isPerson)
    if (first < 0) continue
    include(first, y)
    include(row.findLastIndex(isPerson), y)
  }
  for (const { x, y, score } of Object.values(pose)) if (score >= PLAUSIBLE) include(x, y)
  if (left > right) return null
  const margin = MARGIN * Math.max(right - left, bottom - top)
  const x = Math.max(0, left - margin)
  const y = Math.max(0, top - margin)
  return {
    x,
    y,
    width: Math.min(mask.width, right + margin) - x,
    height: Math.min(mask.height, bottom + margin) - y,
  }
}

const isPerson = (probability: number) => probability >= 0.5

function clearOutside(mask: Plane, box: Box): void {
  for (let y = 0, at = 0; y < mask.height; y++) {
    const isRowInside = y >= box.y && y < box.y + box.height
    for (let x = 0; x < mask.width; x++, at++) {
      if (!isRowInside || x < box.x || x >= box.x + box.width) mask.data[at] = 0
    }
  }
}

/** The box from its top to below hips and wrists; null when that is most of the box or is not seen. */
function upperBodyOf(pose: Pose, box: Box): Box | null {
  const { leftHip, rightHip, leftWrist, rightWrist } = pose
  if (!isConfident(leftHip) || !isConfident(rightHip)) return null
  const lowest = Math.max(
    ...[leftHip, rightHip, leftWrist, rightWrist].filter(isConfident).map(({ y }) => y),
  )
  const height = (lowest - box.y) * (1 + FADE) + BELOW * box.height
  return Math.max(height, box.width) < WORTHWHILE * Math.max(box.height, box.width)
    ? { ...box, height }
    : null
}

/** How far hips and wrists are above the end of the upper body, as a share of the person's height. */
const BELOW = 0.06
/** Above this share of the person's box the upper body would not be seen more sharply. By experiment. */
const WORTHWHILE = 0.8
/** The share of the upper body's height over which its mask passes into the mask of the whole body. */
const FADE = 0.12

/** Replaces the mask inside the box, gradually at the lower end of the box. */
function fadeInto(mask: Plane, part: Plane, box: Box): void {
  const bottom = box.y + box.height
  for (let y = Math.max(0, Math.ceil(box.y)); y < Math.min(mask.height, bottom); y++) {
    const share = ramp(bottom - y, 0, FADE * box.height)
    for (let x = Math.ceil(box.x); x < Math.min(mask.width, box.x + box.width); x++) {
      const at = y * mask.width + x
      mask.data[at] = lerp(mask.data[at]!, part.data[at]!, share)
    }
  }
}

/** A face in distances of its features, and its forehead and height in widths. By experiment. */
const FACE = { eyes: 2.2, noseToEar: 1.1, noseToEye: 2, forehead: 0.5, height: 1.35 }

/** Null unless the nose and an eye or ear are seen. */
function faceOf({ nose, leftEye, rightEye, leftEar, rightEar }: Pose): Box | null {
  if (!isConfident(nose)) return null
  const eyes = [leftEye, rightEye].filter(isConfident)
  const ears = [leftEar, rightEar].filter(isConfident)
  const seen = [...eyes, ...ears, nose]
  if (seen.length < 2) return null
  const distance = ([one, other]: Joint[]) =>
    one && other ? Math.hypot(one.x - other.x, one.y - other.y) : 0
  const noseToEar = Math.max(0, ...ears.map((ear) => distance([nose, ear])))
  const noseToEye = Math.max(0, ...eyes.map((eye) => distance([nose, eye])))
  // From the front the first two agree; from the side the ear is as far from the nose as both are in front.
  const width = Math.max(
    distance(ears),
    distance(eyes) * FACE.eyes,
    noseToEar * FACE.noseToEar,
    noseToEye * FACE.noseToEye,
  )
  if (width === 0) return null
  const left = Math.min(...seen.map(({ x }) => x))
  const right = Math.max(...seen.map(({ x }) => x))
  const level = eyes.length > 0 ? eyes : ears
  const eyeY = level.reduce((sum, { y }) => sum + y, 0) / level.length
  return {
    x: (left + right) / 2 - width / 2,
    y: eyeY - width * FACE.forehead,
    width,
    height: width * FACE.height,
  }
}
