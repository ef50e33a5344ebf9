// The result of planning.
import { distanceTo } from '../distance.ts'
import { LABEL, type Parsing } from '../parsing.ts'
import type { Size } from '../raster.ts'
import type { Limb } from './limbs.ts'
import type { Torso } from './torso.ts'

/** What one pixel of old clothing must become. */
export const BECOMES = { keep: 0, ground: 1, skin: 2, bottom: 3 } as const

/** A decision for each pixel of the analysed picture. */
export interface Decisions extends Size {
  becomes: Uint8Array
}

/** The decisions, and what they were made from. */
export interface UncoverPlan extends Decisions {
  /** Without strays. */
  parsing: Measured
  torso: Torso
  limbs: Limb[]
}

export type Measured = ReturnType<typeof measured>

/** A parsing, and how far each pixel is from clothing and from the ground, in pixels. */
export const measured = (parsing: Parsing) => ({
  ...parsing,
  fromCloth: distanceTo(parsing, (at) => isClothes(parsing.labels[at])),
  fromGround: distanceTo(parsing, (at) => parsing.labels[at] === LABEL.ground),
})

/** Whether a label is one of clothing. */
export const isClothes = (label: number | undefined) =>
  label === LABEL.top || label === LABEL.bottom

/** Tells where the ground is seen, painted or not. */
export const groundIn =
  ({ becomes }: Decisions, labels: Uint8Array) =>
  (at: number) =>
    becomes[at] === BECOMES.keep ? labels[at] === LABEL.ground : becomes[at] === BECOMES.ground
