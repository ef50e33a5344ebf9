// Cloth on any ground, by the colours of both, as in 'GrabCut' by Rother, Kolmogorov and Blake (2004).
import type { Lab } from '../oklab.ts'
import { colourCosts, colourIndices } from '../parsing/mixture.ts'
import { pause } from '../pause.ts'
import { clamp, pixelsWhere } from '../raster.ts'
import { cutAlong, type CutEdges } from './edges.ts'
import { borderOf, maskWhere, type Mask } from './mask.ts'

// By experiment on product photos on floors, carpets, sheets and walls.
/** The depth of the border that is ground at first, as a share of the shorter side. */
const BORDER = 0.03
/** Of the colours of cloth and of ground: how many groups, their slack, and from how many samples about. */
const COLOURS = { groups: 5, slack: 0.04, samples: 6_000 }
/** How often the colours are learned from what was cut out with those before. */
const ROUNDS = 4
/** How much a pixel's colour counts against the edges, the most that it can say, and what a pixel of the border costs as cloth. */
const WEIGHT = 0.5
const MOST = 3
const AT_BORDER = 1
/** The colour change along which the cut is free, as in `cutAlong`. */
const CONTRAST = 0.05

interface Parts {
  cloth: Mask
  /** The pixels whose colour is more likely that of the ground. */
  plain: Mask
}

/**
 * Divides the picture into what is at its border and what is not. Both may be empty.
 * @param isUnlike whether cloth is at first what is unlike the border, instead of all that is not the border: better for cloth
 *   in the middle of uneven ground, worse for cloth that reaches to the border
 */
export async function grabCut(lab: Lab, edges: CutEdges, isUnlike: boolean): Promise<Parts> {
  const count = lab.L.length
  const indices = colourIndices(
    lab,
    Int32Array.from({ length: count }, (_, i) => i),
  )
  const cut = cutAlong(edges, CONTRAST)
  const border = new Set(
    borderOf(lab, Math.max(2, Math.round(Math.min(lab.width, lab.height) * BORDER))),
  )
  const terminal = new Float32Array(count)
  let cloth = maskWhere(lab, (i) => !border.has(i))
  for (let round = 0; round < ROUNDS; round++) {
    const costs = ([0, 1] as const).map((of) => {
      const pixels = of === 1 && isUnlike && round === 0 ? [] : sampled(cloth, of)
      return colourCosts(lab, pixels, COLOURS.groups, COLOURS.slack)
    })
    for (let i = 0; i < count; i++) {
      const at = indices[i]!
      terminal[i] = clamp(WEIGHT * (costs[0]![at]! - costs[1]![at]!), -MOST, MOST)
    }
    for (const i of border) terminal[i] = terminal[i]! - AT_BORDER
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
