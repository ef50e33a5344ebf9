// A product photo, understood: the cloth alone, its kind, and its landmarks. `garment/read.ts` reads it.
import type { Point, Raster } from './raster.ts'

/** Landmarks are in pixels of `picture`. Left and right are those of the picture. */
interface Cloth {
  /** The cloth on transparent ground, without the inside of the back, labels and hangers. */
  picture: Raster
}

/** A sleeve as a tube: the edges run from the armhole to the cuff. The outer edge is the upper one. */
export interface Sleeve {
  outer: Point[]
  inner: Point[]
}

/** The polygon around a sleeve. */
export const sleeveOutline = ({ outer, inner }: Sleeve): Point[] => [
  ...outer,
  ...inner.toReversed(),
]

/** One side, from the neck to the hem. */
export interface UpperSide {
  /** Where the neckline ends at the top: the shoulder's inner end, or the top of a strap. */
  neck: Point
  /** The shoulder's outer end, where the sleeve begins; for straps the outer edge of the strap's top. */
  shoulder: Point
  /** Where sleeve and side meet; without a sleeve, where the armhole ends. */
  armpit: Point
  /** The side from the armpit to the hem's corner. */
  side: Point[]
  /** The armhole's edge from shoulder to armpit where there is no sleeve. */
  armhole: Point[]
  sleeve: Sleeve | null
}

export interface UpperGarment extends Cloth {
  kind: 'top' | 'dress'
  /** 'none' has shoulders without sleeves; 'off-shoulder' has nothing above the armpits but perhaps straps. */
  shoulders: 'sleeves' | 'none' | 'straps' | 'off-shoulder'
  /** The front edge of the neck opening from the left neck point to the right one. */
  neckline: Point[]
  left: UpperSide
  right: UpperSide
  /** The lower edge from left to right. */
  hem: Point[]
  /** The person who wears it in the picture. */
  wearer: {
    /** The height of the shoulders, and the length of the torso. */
    shoulderY: number
    torso: number
    /** Whether trousers or a skirt follow below the hem, as where a shirt is tucked in, and no bare skin. */
    meetsBottom: boolean
  } | null
}

export interface LowerGarment extends Cloth {
  kind: 'trousers' | 'skirt'
  /** The upper edge from left to right. */
  waist: Point[]
  left: Point[]
  right: Point[]
  /** Only of trousers: where the legs part, and the inner edges from there to the hem. */
  legs: { crotch: Point; leftInner: Point[]; rightInner: Point[] } | null
  /** The person who wears it in the picture: the height of the hips, and the length of a thigh. */
  wearer: { hipY: number; thigh: number } | null
}

export type Garment = UpperGarment | LowerGarment

export const isUpper = (garment: Garment): garment is UpperGarment =>
  garment.kind === 'top' || garment.kind === 'dress'
