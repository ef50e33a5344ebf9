// Coordinates on cloth: the same pair names the same point of a garment in its own picture and on the
// person, so that two charts define a warp.
import { between } from './outline.ts'
import type { Tube } from './garment-shape.ts'
import { clamp, lerp, type Point } from './raster.ts'

export type Chart = (across: number, along: number) => Point

export interface TorsoFrame {
  left: TorsoEdge
  right: TorsoEdge
  chestY: number
  hemY: number
}

export interface TorsoEdge {
  /** The top of the shoulder, from the neck outwards. */
  ridge: readonly Point[]
  /** x on each row from `chestY`; the last value applies to all rows below. */
  edge: Float64Array
}

/** Position of the neck between the middle (0) and the shoulder (1), the same in every chart. */
const NECK = 0.4

/**
 * `across` runs from the left edge (-1) to the right (1); `along` from the shoulder line (0, and
 * below 0 the collar) over the chest (1) to the hem (2).
 */
export function torsoChart(frame: TorsoFrame): Chart {
  const { left, right, chestY, hemY } = frame
  const edgeAt = ({ edge }: TorsoEdge, y: number) => {
    const row = clamp(y - chestY, 0, edge.length - 1)
    const above = Math.floor(row)
    return lerp(edge[above]!, edge[Math.min(above + 1, edge.length - 1)]!, row - above)
  }
  const shoulderLine = (across: number): Point => {
    if (across < -NECK) return pointOn(left.ridge, (-across - NECK) / (1 - NECK))
    if (across > NECK) return pointOn(right.ridge, (across - NECK) / (1 - NECK))
    return between(left.ridge[0]!, right.ridge[0]!, (across / NECK + 1) / 2)
  }
  const middleY = (shoulderLine(-0.7).y + shoulderLine(0.7).y) / 2
  const row = (across: number, y: number): Point => ({
    x: lerp(edgeAt(left, y), edgeAt(right, y), (across + 1) / 2),
    y,
  })
  return (across, along) => {
    if (along >= 1) return row(across, lerp(chestY, hemY, along - 1))
    const top = shoulderLine(across)
    const chest = row(across, chestY)
    const above = Math.min(along, 0)
    const below = Math.max(along, 0)
    // The slope of the shoulders fades quickly, so that stripes are level across the chest.
    const slope = (top.y - middleY) * (1 - below) ** 2
    const depth = chestY - middleY
    return {
      x: lerp(top.x, chest.x, below),
      y: lerp(middleY, chestY, below) + slope + above * depth,
    }
  }
}

/** `across` runs from the outer edge (0) to the inner (1), `along` from the shoulder to the cuff. */
export function tubeChart(tube: Tube): Chart {
  return (across, along) => between(pointOn(tube.outer, along), pointOn(tube.inner, along), across)
}

/** The point at a share of the line's length. Beyond its ends the line continues straight. */
export function pointOn(line: readonly Point[], share: number): Point {
  const at = share * (line.length - 1)
  const index = clamp(Math.floor(at), 0, line.length - 2)
  return between(line[index]!, line[index + 1]!, at - index)
}
