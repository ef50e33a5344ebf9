// Faults of the drawn garment itself: pieces, rags, cloth beside the body, the old print shining through.
import { blur, type Plane } from '../plane.ts'
import { distanceTo } from '../distance.ts'
import { pieceSizes, shareOf, type Size } from './area.ts'

/**
 * The share of the garment that does not hang together, also across what may be in front of it.
 * @param isFront arms, hands, hair and bags
 */
export function scattered(
  size: Size,
  isDrawn: (i: number) => boolean,
  isFront: (i: number) => boolean,
): number {
  const pieces = pieceSizes(size, (i) => isDrawn(i) || isFront(i), isDrawn)
  const total = pieces.reduce((sum, piece) => sum + piece, 0)
  return total === 0 ? 1 : 1 - (pieces[0] ?? 0) / total
}

/** The share of the garment in spikes and shreds narrower than twice the reach, in pixels. */
export function shreds(size: Size, isDrawn: (i: number) => boolean, reach: number): number {
  const { width, height } = size
  const inside = distanceTo((i) => !isDrawn(i), width, height)
  const opened = distanceTo((i) => inside[i]! > reach, width, height)
  return shareOf(size, isDrawn, (i) => opened[i]! > reach + 1)
}

/** The area of narrow gaps and notches in the garment, relative to the garment's area. */
export function notches(
  size: Size,
  isDrawn: (i: number) => boolean,
  counts: (i: number) => boolean,
  reach: number,
): number {
  const { width, height } = size
  const outside = distanceTo(isDrawn, width, height)
  const closed = distanceTo((i) => outside[i]! > reach, width, height)
  let [drawn, gap] = [0, 0]
  for (let i = 0; i < width * height; i++) {
    if (isDrawn(i)) drawn++
    else if (closed[i]! > reach + 1 && counts(i)) gap++
  }
  return drawn === 0 ? 1 : gap / drawn
}

/** The share of the garment farther than `reach` pixels outside the person, and the farthest distance. */
export function spill(
  person: Plane,
  isDrawn: (i: number) => boolean,
  reach: number,
): { share: number; farthest: number } {
  const far = distanceTo((i) => person.data[i]! > 0.5, person.width, person.height)
  let farthest = 0
  for (let i = 0; i < far.length; i++) if (isDrawn(i)) farthest = Math.max(farthest, far[i]!)
  return { share: shareOf(person, isDrawn, (i) => far[i]! > reach), farthest }
}

/**
 * How much of the old detail, a print or an edge, shows on the drawn garment: the deviation of the
 * result's lightness that follows the photo's, in the units of the planes.
 */
export function ghost(
  before: Plane,
  after: Plane,
  isDrawn: (i: number) => boolean,
  radius: number,
): number {
  const [soft, softAfter] = [blur(before, radius), blur(after, radius)]
  let [both, old, count] = [0, 0, 0]
  for (let i = 0; i < before.data.length; i++) {
    if (!isDrawn(i)) continue
    const from = before.data[i]! - soft.data[i]!
    const to = after.data[i]! - softAfter.data[i]!
    both += from * to
    old += from * from
    count++
  }
  return count === 0 || old === 0 ? 0 : Math.max(0, both) / Math.sqrt(old * count)
}
