// The models: MoveNet finds joints, the selfie model the pixels of a person, U²-Netp those of what stands out, and three
// of our own what a product photo shows, what the neck opening of a garment shows, and the parts of a person. MoveNet, the
// selfie model and the first two of our own look at the smallest square around a box of the picture, black outside the picture.
import { createPlane, type Plane } from './plane.ts'
import { clamp, type Point, type Raster, type Size } from './raster.ts'
import { loadModel, runOnce, type Model, type ModelFiles } from './tensor-model.ts'

/** The joints that MoveNet finds, in its order. Left and right are the person's own. */
export const JOINTS = [
  'nose',
  'leftEye',
  'rightEye',
  'leftEar',
  'rightEar',
  'leftShoulder',
  'rightShoulder',
  'leftElbow',
  'rightElbow',
  'leftWrist',
  'rightWrist',
  'leftHip',
  'rightHip',
  'leftKnee',
  'rightKnee',
  'leftAnkle',
  'rightAnkle',
] as const

export type JointName = (typeof JOINTS)[number]

/** A joint in pixels of the picture. `score` is the model's confidence from 0 to 1. */
export interface Joint extends Point {
  score: number
}

export type Pose = Record<JointName, Joint>

/** A rectangle in pixels of the picture. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export interface PersonModels {
  /** Finds the joints of the person in the box. The joints of several people are mixed. */
  pose(picture: Raster, box: Box): Promise<Pose>
  /** The probability that a pixel of the box belongs to a person; 0 outside the box's square. */
  mask(picture: Raster, box: Box): Promise<Plane>
  /** The probability that a pixel belongs to what stands out from the picture. */
  salience(picture: Raster): Promise<Plane>
  /** Which part of a product photo each pixel most likely shows, as in `PRODUCT`. */
  product(picture: Raster): Promise<Uint8Array>
  /** The probability that a pixel of the box, as in `garment/lining.ts`, belongs to what the neck opening of a garment shows. */
  opening(picture: Raster, box: Box): Promise<Plane>
  /**
   * The logarithms of the probabilities of the parts of a person, for each pixel of a square, up to one number for all of them.
   * @param planes what is known of its pixels, see `parsing/sight.ts`
   */
  parts(planes: Float32Array): Promise<Float32Array>
}

/** The sides of the models' inputs, in pixels: MoveNet Lightning and MediaPipe Selfie. */
const POSE_SIDE = 192
const MASK_SIDE = 256

/** As in `models/opening.py`. */
const OPENING = { side: 80, type: 'float32', pausesAfter: [] } as const

/** Of our U-Nets of five levels. The decoder reads the ends of the stages of the encoder, which take half of the time. */
const UNET = {
  type: 'float32',
  pausesAfter: [['conv_2', 'conv_4', 'conv_6', 'conv_8', 'conv_10']],
} as const

/** As in `models/parts.py`. */
export const PARTS = { ...UNET, side: 96, channels: 11 } as const

/** What a product photo shows, as in `models/product.py`. `top` and `dress` are without their sleeves. */
export const PRODUCT = {
  ground: 0,
  top: 1,
  dress: 2,
  sleeve: 3,
  bottom: 4,
  person: 5,
  support: 6,
} as const

const PRODUCT_SHAPE = { ...UNET, side: 112 } as const

/** U²-Netp, cut into parts of about equal time: the decoder reads the ends of the encoder's stages. */
const ENCODER = [1, 2, 3, 4, 5, 6].map((stage) => `encoder_${stage}`)
const SALIENCE = {
  side: 128,
  type: 'float32',
  pausesAfter: [
    ENCODER.slice(0, 1),
    ENCODER.slice(0, 2),
    ENCODER,
    ['encoder_1', 'encoder_6', 'decoder_5', 'decoder_4', 'decoder_3', 'decoder_2'],
  ],
} as const

/** The prefix of MoveNet's nodes up to its heads. */
const BACKBONE = 'StatefulPartitionedCall/center_net_mobile_net_v2fpn_feature_extractor/model_1'
/**
 * Cuts a run of MoveNet into four parts of about equal time. The pyramid of features reads two earlier blocks
 * through the convolutions 3 and 2.
 */
const POSE_PAUSES = [
  ['model/block_2_add/add'],
  ['conv2d_3/BiasAdd', 'conv2d_2/BiasAdd', 'model/block_9_add/add'],
  ['tf.__operators__.add_2/AddV2'],
].map((names) => names.map((name) => `${BACKBONE}/${name}`))

/** @throws Error when a file is damaged */
export async function loadPersonModels(files: {
  movenet: ModelFiles
  selfie: ModelFiles
  u2netp: ModelFiles
  opening: ModelFiles
  parts: ModelFiles
  product: ModelFiles
  backend: WebAssembly.Module
}): Promise<PersonModels> {
  const movenet = await loadModel(files.movenet, {
    side: POSE_SIDE,
    type: 'int32',
    pausesAfter: POSE_PAUSES,
  })
  const selfie = await loadModel(files.selfie, {
    side: MASK_SIDE,
    type: 'float32',
    pausesAfter: [],
  })
  const u2netp: Model = (rgb) => runOnce(files.backend, files.u2netp, SALIENCE, rgb)
  // Loaded after the others have run it needs less memory.
  let parts: Promise<Model> | undefined
  const opening: Model = (rgb) => runOnce(files.backend, files.opening, OPENING, rgb)
  const product: Model = (rgb) => runOnce(files.backend, files.product, PRODUCT_SHAPE, rgb)
  return {
    pose: (picture, box) => poseIn(movenet, picture, box),
    mask: (picture, box) => maskIn(selfie, picture, squareAround(box, MASK_SIDE)),
    salience: (picture) => maskIn(u2netp, picture, stretched(picture, SALIENCE.side)),
    parts: async (planes) => (await (parts ??= loadModel(files.parts, PARTS)))(planes),
    product(picture) {
      const whole = { x: 0, y: 0, width: picture.width, height: picture.height }
      return likeliestIn(product, picture, squareAround(whole, PRODUCT_SHAPE.side))
    },
    opening: (picture, box) => maskIn(opening, picture, squareAround(box, OPENING.side)),
  }
}

/** What a model sees of a picture, in its pixels. */
interface View {
  /** Of the model's input, pixels. */
  side: number
  left: number
  top: number
  /** Pixels of the picture in one pixel of the model's input, across and down. */
  scaleX: number
  scaleY: number
}

function squareAround(box: Box, side: number): View {
  const size = Math.max(1, box.width, box.height)
  return {
    side,
    left: box.x + box.width / 2 - size / 2,
    top: box.y + box.height / 2 - size / 2,
    scaleX: size / side,
    scaleY: size / side,
  }
}

/** The whole picture, stretched to a square: borders around it would stand out. */
const stretched = ({ width, height }: Raster, side: number): View => ({
  side,
  left: 0,
  top: 0,
  scaleX: width / side,
  scaleY: height / side,
})

/** The pixels of a view, from 0 to `white`. Each is the mean of the picture's pixels under it. */
function pixelsOf(picture: Raster, view: View, white: number): Float32Array {
  const { width, height, data } = picture
  const { side, left, top, scaleX, scaleY } = view
  const rgb = new Float32Array(side * side * 3)
  const steps = Math.max(1, Math.round(Math.max(scaleX, scaleY)))
  const weight = white / 255 / (steps * steps)
  // The columns that are read in each row; -1 outside of the picture.
  const columns = Int32Array.from({ length: side * steps }, (_, i) => {
    const x = Math.floor(left + (Math.floor(i / steps) + ((i % steps) + 0.5) / steps) * scaleX)
    return x >= 0 && x < width ? x : -1
  })
  const rows = new Int32Array(steps)
  for (let y = 0, at = 0; y < side; y++) {
    for (let dy = 0; dy < steps; dy++) {
      const row = Math.floor(top + (y + (dy + 0.5) / steps) * scaleY)
      rows[dy] = row >= 0 && row < height ? row * width : -1
    }
    for (let x = 0; x < side; x++, at += 3) {
      let red = 0
      let green = 0
      let blue = 0
      for (let dy = 0; dy < steps; dy++) {
        if (rows[dy]! < 0) continue
        for (let i = x * steps; i < (x + 1) * steps; i++) {
          if (columns[i]! < 0) continue
          const from = (rows[dy]! + columns[i]!) * 4
          red += data[from]!
          green += data[from + 1]!
          blue += data[from + 2]!
        }
      }
      rgb[at] = red * weight
      rgb[at + 1] = green * weight
      rgb[at + 2] = blue * weight
    }
  }
  return rgb
}

async function poseIn(model: Model, picture: Raster, box: Box): Promise<Pose> {
  const square = squareAround(box, POSE_SIDE)
  const found = await model(pixelsOf(picture, square, 255))
  const joints = JOINTS.map((name, i): [JointName, Joint] => [
    name,
    {
      x: square.left + found[i * 3 + 1]! * POSE_SIDE * square.scaleX,
      y: square.top + found[i * 3]! * POSE_SIDE * square.scaleY,
      score: found[i * 3 + 2]!,
    },
  ])
  return Object.fromEntries(joints) as Pose
}

async function maskIn(model: Model, picture: Raster, view: View): Promise<Plane> {
  return sampled(await model(pixelsOf(picture, view, 1)), view, picture)
}

/** For each pixel of the picture the number of the largest of several values. */
async function likeliestIn(model: Model, picture: Raster, view: View): Promise<Uint8Array> {
  const found = await model(pixelsOf(picture, view, 1))
  const count = found.length / view.side ** 2
  const labels = new Uint8Array(picture.width * picture.height)
  const most = new Float32Array(labels.length).fill(-Infinity)
  for (let label = 0; label < count; label++) {
    const values = found.filter((_, i) => i % count === label)
    const { data } = sampled(values, view, picture)
    for (let i = 0; i < labels.length; i++) {
      if (data[i]! <= most[i]!) continue
      most[i] = data[i]!
      labels[i] = label
    }
  }
  return labels
}

/** The values of a view's pixels in the size of a picture; 0 outside of the view. */
function sampled(found: Float32Array, view: View, { width, height }: Size): Plane {
  const mask = createPlane(width, height)
  const { side, left, top, scaleX, scaleY } = view
  for (let y = 0; y < mask.height; y++) {
    const sy = (y + 0.5 - top) / scaleY - 0.5
    if (sy < -1 || sy > side) continue
    const y0 = clamp(Math.floor(sy), 0, side - 1)
    const fy = clamp(sy - y0, 0, 1)
    const upper = y0 * side
    const lower = Math.min(y0 + 1, side - 1) * side
    for (let x = 0; x < mask.width; x++) {
      const sx = (x + 0.5 - left) / scaleX - 0.5
      if (sx < -1 || sx > side) continue
      const x0 = clamp(Math.floor(sx), 0, side - 1)
      const x1 = Math.min(x0 + 1, side - 1)
      const fx = clamp(sx - x0, 0, 1)
      mask.data[y * mask.width + x] =
        (found[upper + x0]! * (1 - fx) + found[upper + x1]! * fx) * (1 - fy) +
        (found[lower + x0]! * (1 - fx) + found[lower + x1]! * fx) * fy
    }
  }
  return mask
}
