// The result of planning.
import { LABEL } from '../parsing.ts'
import type { Size } from '../raster.ts'

/** What one pixel of old clothing must become. */
export const BECOMES = { keep: 0, ground: 1, skin: 2, bottom: 3 } as const

/** A decision for each pixel of the analysed picture. */
export interface UncoverPlan extends Size {
  becomes: Uint8Array
}

/** Whether a label is one of clothing. */
export const isClothes = (label: number | undefined) =>
  label === LABEL.top || label === LABEL.bottom

/** Tells where the ground is seen, painted or not. */
export const groundIn =
  ({ becomes }: UncoverPlan, labels: Uint8Array) =>
  (at: number) =>
    becomes[at] === BECOMES.keep ? labels[at] === LABEL.ground : becomes[at] === BECOMES.ground
