// The colours of the parts of a person in one photo.
import type { Lab } from '../oklab.ts'
import { pixelsWhere } from '../raster.ts'
import { LABEL, LABEL_COUNT } from './labels.ts'
import { CLOTH, colourCosts, type ColourCosts } from './mixture.ts'

/** The costs of colours as those of each label; null where too little of it is seen. */
export type Colours = (ColourCosts | null)[]

/** The number of Gaussians, and the least deviation within one, in Oklab lightness. By experiment. */
const SKIN = { parts: 4, slack: 0.03 }
const HAIR = { parts: 3, slack: 0.035 }
const OTHERS = { parts: 3, slack: CLOTH.slack }
/** Of each label; face and skin have the same, the ground has its own (`ground.ts`). */
const MODELS = [null, HAIR, SKIN, SKIN, CLOTH, CLOTH, OTHERS, OTHERS]
/** Fewer pixels of the small picture are not learned from. */
const LEAST = 20
/** How much a colour counts beside what the model sees: neighbouring pixels are no independent witnesses. */
const COLOUR = 0.5
/** The cost of a colour where none was learned, and the most that one may say against a label. */
const UNKNOWN = 7
const MOST_AGAINST = 12
/** Eyes, brows and lips are no skin: the share of it that counts in a face. */
const IN_FACE = 0.5
/** The cost of the ground where none was seen. */
const UNSEEN_GROUND = 3

/** @param shows whether a pixel shows a label for certain */
export function learnColours(lab: Lab, shows: (i: number, label: number) => boolean): Colours {
  const learned = (test: (i: number) => boolean, { parts, slack }: typeof SKIN) => {
    const pixels = pixelsWhere(lab.L.length, test)
    return pixels.length < LEAST ? null : colourCosts(lab, pixels, parts, slack)
  }
  const skin = learned((i) => shows(i, LABEL.skin) || shows(i, LABEL.face), SKIN)
  return MODELS.map((model, label) =>
    model === SKIN ? skin : model && learned((i) => shows(i, label), model),
  )
}

/**
 * The costs of the labels by what the model sees and by colour, see `Energy.costs`.
 * @param sight see `sightCosts`
 * @param ground see `groundCosts`; null when no ground is seen
 */
export function labelCosts(
  sight: Float32Array,
  colours: Colours,
  indices: Uint16Array,
  ground: Float32Array | null,
): Float32Array {
  const costs = sight.slice()
  for (let k = 0; k < indices.length; k++) {
    for (let label = 0; label < LABEL_COUNT; label++) {
      const table = colours[label]
      const seen = label === LABEL.ground ? (ground?.[k] ?? UNSEEN_GROUND) : table?.[indices[k]!]
      const counts = label === LABEL.face ? IN_FACE * COLOUR : COLOUR
      costs[k * LABEL_COUNT + label]! += counts * Math.min(seen ?? UNKNOWN, MOST_AGAINST)
    }
  }
  return costs
}

/** The label with the least cost at each pixel. */
export function cheapest(costs: Float32Array): Uint8Array {
  const labels = new Uint8Array(costs.length / LABEL_COUNT)
  for (let i = 0, at = 0; i < labels.length; i++, at += LABEL_COUNT) {
    let best = 0
    for (let label = 1; label < LABEL_COUNT; label++) {
      if (costs[at + label]! < costs[at + best]!) best = label
    }
    labels[i] = best
  }
  return labels
}
