// Whether a garment's landmarks describe its cloth.
import { isUpper, sleeveOutline, type Garment, type LowerGarment } from '../garment.ts'
import type { UpperGarment, UpperSide } from '../garment.ts'
import type { Point } from '../raster.ts'

/** The longest side of the raster on which the areas are compared. */
const SIDE = 128
/** The alpha from which on a pixel is cloth. */
const OPAQUE = 128

/**
 * The area in which the polygon of the landmarks and the cloth differ, relative to the cloth's area. A
 * lost sleeve or a strap taken for one makes it large.
 */
export function mismatch(garment: Garment): number {
  const { width, height, data } = garment.picture
  const scale = SIDE / Math.max(width, height)
  const parts = (isUpper(garment) ? upperParts(garment) : [lowerOutline(garment)]).map((outline) =>
    outline.map(({ x, y }) => ({ x: x * scale, y: y * scale })),
  )
  let [cloth, differing] = [0, 0]
  for (let row = 0; row < Math.round(height * scale); row++) {
    const crossings = parts.map((outline) => crossingsOf(outline, row + 0.5))
    for (let column = 0; column < Math.round(width * scale); column++) {
      const x = Math.min(width - 1, Math.floor((column + 0.5) / scale))
      const y = Math.min(height - 1, Math.floor((row + 0.5) / scale))
      if (y > hemAt(garment, x)) continue
      const isCloth = data[(y * width + x) * 4 + 3]! > OPAQUE
      const isInPart = crossings.some(
        (part) => part.filter((crossing) => crossing < column + 0.5).length % 2 === 1,
      )
      if (isCloth) cloth++
      if (isCloth !== isInPart) differing++
    }
  }
  return cloth === 0 ? 1 : differing / cloth
}

/** The body and the sleeves, which may lie over it. */
function upperParts({ neckline, left, right, hem }: UpperGarment): Point[][] {
  const sleeves = [left, right].flatMap(({ sleeve }) => (sleeve ? [sleeveOutline(sleeve)] : []))
  const body = [...neckline, ...sideOf(right), ...hem.toReversed(), ...sideOf(left).reverse()]
  return [body, ...sleeves]
}

/** From the neck to the hem, without the sleeve. */
const sideOf = ({ neck, shoulder, armpit, armhole, sleeve, side }: UpperSide): Point[] => [
  neck,
  shoulder,
  ...(sleeve ? [] : armhole),
  armpit,
  ...side,
]

function lowerOutline({ waist, left, right, legs }: LowerGarment): Point[] {
  const inner = legs ? [...legs.rightInner.toReversed(), legs.crotch, ...legs.leftInner] : []
  return [...waist, ...right, ...inner, ...left.toReversed()]
}

/** Where a lower garment ends at a column, without the curve of its hem, which has no landmarks. */
function hemAt(garment: Garment, x: number): number {
  if (isUpper(garment)) return Infinity
  const [from, to] = [garment.left.at(-1)!, garment.right.at(-1)!]
  return from.y + ((x - from.x) / (to.x - from.x)) * (to.y - from.y)
}

/** Where the closed outline crosses a height. */
function crossingsOf(outline: readonly Point[], y: number): number[] {
  const crossings: number[] = []
  outline.forEach((from, i) => {
    const to = outline[(i + 1) % outline.length]!
    if (from.y > y === to.y > y) return
    crossings.push(from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x))
  })
  return crossings
}
