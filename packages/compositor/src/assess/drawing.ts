// Faults of the drawn garment itself: pieces, rags, cloth beside the body.
import { distanceTo } from '../distance.ts'
import { pause } from '../pause.ts'
import { numberPieces } from '../pieces.ts'
import type { Plane } from '../plane.ts'
import type { Raster, Size } from '../raster.ts'
import { shareOf, type PixelSet } from './area.ts'

/** The alpha of the product's cloth, of 255. */
const OPAQUE = 128

/**
 * The share of the garment that does not hang together, also across what may be in front of it.
 * @param isFront arms, hands, hair and bags
 */
export function scattered(size: Size, isDrawn: PixelSet, isFront: PixelSet): number {
  const { numbers, areas } = numberPieces(size, (i) => isDrawn(i) || isFront(i))
  const drawn = areas.map(() => 0)
  for (let i = 0; i < numbers.length; i++) if (isDrawn(i)) drawn[numbers[i]!]!++
  const total = drawn.reduce((sum, area) => sum + area, 0)
  return total === 0 ? 1 : 1 - Math.max(...drawn) / total
}

/** The set without what is narrower than twice the reach, in pixels. */
function opened(size: Size, set: PixelSet, reach: number): PixelSet {
  const inside = distanceTo(size, (i) => !set(i))
  const core = distanceTo(size, (i) => inside[i]! > reach)
  // Chamfer distances are up to a pixel off.
  return (i) => core[i]! <= reach + 1
}

/** The share of the garment in spikes and shreds narrower than twice the reach, in pixels. */
export function shreds(size: Size, isDrawn: PixelSet, reach: number): number {
  const isSolid = opened(size, isDrawn, reach)
  return shareOf(size, isDrawn, (i) => !isSolid(i))
}

/**
 * The same without what the product has itself, at the same scale: straps, ties and lace are as narrow as shreds. Of a
 * garment whose visible part is smaller than `whole`, in pixels, the share of that area.
 * @param product the cloth on transparent ground, in any size
 */
export async function newShreds(
  product: Raster,
  size: Size,
  isDrawn: PixelSet,
  reach: number,
  whole: number,
): Promise<number> {
  const isCloth: PixelSet = (i) => product.data[i * 4 + 3]! > OPAQUE
  const areaOf = (of: Size, set: PixelSet) => shareOf(of, () => true, set) * of.width * of.height
  const area = areaOf(size, isDrawn)
  const scale = Math.sqrt(areaOf(product, isCloth) / Math.max(1, area))
  const own = shreds(product, isCloth, reach * scale)
  await pause()
  return Math.max(0, shreds(size, isDrawn, reach) - own) * Math.min(1, area / whole)
}

/** The area of narrow gaps and notches of `isFault` in the garment, relative to the garment's area. */
export function gaps(size: Size, isDrawn: PixelSet, isFault: PixelSet, reach: number): number {
  const isOpen = opened(size, (i) => !isDrawn(i), reach)
  let [drawn, gap] = [0, 0]
  for (let i = 0; i < size.width * size.height; i++) {
    if (isDrawn(i)) drawn++
    else if (!isOpen(i) && isFault(i)) gap++
  }
  return drawn === 0 ? 1 : gap / drawn
}

/** The share of the garment farther than `reach` pixels outside the person, and the farthest distance. */
export function spill(
  person: Plane,
  isDrawn: PixelSet,
  reach: number,
): { share: number; farthest: number } {
  const far = distanceTo(person, (i) => person.data[i]! > 0.5)
  let farthest = 0
  for (let i = 0; i < far.length; i++) if (isDrawn(i)) farthest = Math.max(farthest, far[i]!)
  return { share: shareOf(person, isDrawn, (i) => far[i]! > reach), farthest }
}
