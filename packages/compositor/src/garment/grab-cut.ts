// Cloth on any ground, by what stands out and by the colours of both, as in 'GrabCut' by Rother, Kolmogorov and Blake (2004).
import type { Lab } from '../oklab.ts'
import { colourCosts, colourIndices } from '../parsing/mixture.ts'
import { pause } from '../pause.ts'
import type { Plane } from '../plane.ts'
import { clamp, pixelsWhere, type Size } from '../raster.ts'
import { cutAlong, type CutEdges } from './edges.ts'
import { borderOf, maskWhere, type Mask } from './mask.ts'

// By experiment on product photos on floors, carpets, sheets and walls.
/** The depth of the border that is ground at first, as a share of the shorter side. */
const BORDER = 0.03
/** Of the colours of cloth and of ground: how many groups, their slack, and from how many samples about. */
const COLOURS = { groups: 5, slack: 0.04, samples: 6_000 }
/** How much a pixel's colour counts against the edges, the most that it can say, and what a pixel of the border costs as cloth. */
const WEIGHT = 0.5
const MOST = 3
const AT_BORDER = 1
/** The most that the salience of a pixel can say. */
const MOST_SALIENT = 4
/** The colour change along which the cut is free, as in `cutAlong`. */
const CONTRAST = 0.05

/** What is known before the colours are. */
export interface Start {
  cloth: Mask
  /** What speaks for cloth, or against it where negative, against the edges. */
  prior: Float32Array
  /** How often the colours are learned from what was cut out with those before. */
  rounds: number
  /**
   * Whether cloth is at first what is unlike the ground, instead of what has its colours: better for cloth in the middle of
   * uneven ground, worse for cloth that reaches to the border.
   */
  isUnlike?: boolean
}

/** What is at the border is ground, all else may be cloth. */
export function fromBorder(size: Size): Start {
  const depth = Math.max(2, Math.round(Math.min(size.width, size.height) * BORDER))
  const prior = new Float32Array(size.width * size.height)
  for (const i of borderOf(size, depth)) prior[i] = -AT_BORDER
  return { cloth: maskWhere(size, (i) => prior[i] === 0), prior, rounds: 4 }
}

/** @param salience the probability that a pixel stands out */
export function fromSalience(salience: Plane): Start {
  const prior = salience.data.map((p) => clamp(Math.log(p / (1 - p)), -MOST_SALIENT, MOST_SALIENT))
  return { cloth: maskWhere(salience, (i) => prior[i]! > 0), prior, rounds: 2 }
}

interface Parts {
  cloth: Mask
  /** The pixels that are more likely ground. */
  plain: Mask
}

/** Divides the picture into cloth and ground. Both may be empty. */
export async function grabCut(lab: Lab, edges: CutEdges, start: Start): Promise<Parts> {
  const count = lab.L.length
  const indices = colourIndices(
    lab,
    Int32Array.from({ length: count }, (_, i) => i),
  )
  const cut = cutAlong(edges, CONTRAST)
  const terminal = new Float32Array(count)
  let { cloth } = start
  for (let round = 0; round < start.rounds; round++) {
    const costs = ([0, 1] as const).map((of) => {
      const pixels = of === 1 && start.isUnlike && round === 0 ? [] : sampled(cloth, of)
      return colourCosts(lab, pixels, COLOURS.groups, COLOURS.slack)
    })
    for (let i = 0; i < count; i++) {
      const at = indices[i]!
      const byColour = clamp(WEIGHT * (costs[0]![at]! - costs[1]![at]!), -MOST, MOST)
      terminal[i] = byColour + start.prior[i]!
    }
    await pause()
    cloth = await cut(terminal)
  }
  return { cloth, plain: maskWhere(lab, (i) => terminal[i]! < 0) }
}

/** Some of the pixels of cloth or of ground, spread evenly. */
function sampled({ data }: Mask, of: 0 | 1): number[] {
  const pixels = pixelsWhere(data.length, (i) => data[i] === of)
  const step = Math.ceil(pixels.length / COLOURS.samples)
  return pixels.filter((_, n) => n % step === 0)
}
