/** The labels of a parsing. `top` includes the upper part and the skirt of a dress; `item` is a bag or the like. */
export const LABEL = {
  ground: 0,
  hair: 1,
  face: 2,
  /** Skin other than the face: neck, chest, arms, hands, belly, legs. */
  skin: 3,
  top: 4,
  bottom: 5,
  shoes: 6,
  item: 7,
} as const

export type Label = (typeof LABEL)[keyof typeof LABEL]

export const LABEL_COUNT = 8
