// The result of planning.

/** What one pixel of old clothing must become. */
export const BECOMES = { keep: 0, ground: 1, skin: 2, bottom: 3 } as const

/** A decision for each pixel of the analysed picture. */
export interface UncoverPlan {
  width: number
  height: number
  becomes: Uint8Array
}
