// Lines along the sides of a picture: rests of a frame, or of the page that a screenshot shows.
import type { Raster } from '../raster.ts'

/** How far a frame reaches at most, as a share of the shorter side. */
const DEPTH = 0.02
/** Where it ends, so many of the pixels of a line differ by this much from the next line, of 255. */
const STEP = { share: 0.9, least: 6 }

/** Continues the picture over its frame, in place. */
export function withoutFrame(picture: Raster): void {
  const { width, height } = picture
  const last = (height - 1) * width
  // From each corner: the steps along the side and inwards, in pixels, and the length of the side.
  const sides = [
    { from: 0, along: 1, inwards: width, length: width },
    { from: last, along: 1, inwards: -width, length: width },
    { from: 0, along: width, inwards: 1, length: height },
    { from: width - 1, along: width, inwards: -1, length: height },
  ]
  for (const side of sides) continueOver(picture, side)
}

interface Side {
  from: number
  along: number
  inwards: number
  length: number
}

function continueOver({ width, height, data }: Raster, side: Side): void {
  const { from, along, inwards, length } = side
  const differs = (one: number, other: number) =>
    [0, 1, 2].some((c) => Math.abs(data[one * 4 + c]! - data[other * 4 + c]!) >= STEP.least)
  const isStep = (line: number) => {
    let count = 0
    for (let n = 0, i = from + line * inwards; n < length; n++, i += along) {
      if (differs(i, i + inwards)) count++
    }
    return count >= STEP.share * length
  }
  let line = Math.floor(DEPTH * Math.min(width, height))
  while (line >= 0 && !isStep(line)) line--
  for (let n = 0, i = from; n < length; n++, i += along) {
    const inside = i + (line + 1) * inwards
    for (let frame = i; frame !== inside; frame += inwards) {
      data.copyWithin(frame * 4, inside * 4, inside * 4 + 4)
    }
  }
}
