// The connected pieces of a labelling that cannot be what they are labelled, or are too small to be a part of their own.
import { isLike, medianColour } from '../oklab.ts'
import { piecesOf, type Piece } from '../pieces.ts'
import type { Evidence } from './colours.ts'
import { cheapestAt } from './costs.ts'
import { IMPOSSIBLE, type Labelling } from './expansion.ts'
import type { Frame } from './frame.ts'
import { LABEL, LABEL_COUNT } from './labels.ts'

// In shoulder widths unless said otherwise, by experiment.
/** Smaller than this, in square shoulder widths, what looks like a bag is a shadow or a ring. */
const LEAST_ITEM = 0.06
/** A hand may part a bag; its parts are at most so far from each other. */
const BAG_PARTS = 0.4
/** Hair begins at most so far from the middle of the face, see `Frame.face`, and above the mouth, or where the picture ends. */
const HAIRLINE = 1.5
const MOUTH = 0.3
/** Strands that come out from behind the neck are at most so far from the rest, and have nearly its colour in Oklab; hoods have not. */
const STRAND = { gap: 0.1, light: 0.25, tint: 0.025 }
/** The least area of a hood beside the neck, in square shoulder widths. */
const LEAST_HOOD = 0.015

/**
 * Gives pieces that cannot be what they are labelled the next best label, and makes the first one impossible there.
 * @returns whether a hood was taken for hair
 */
export function forbidOddPieces(
  labelling: Labelling,
  costs: Float32Array,
  { lab, frame }: Evidence,
  unit: number,
): boolean {
  const { width, labels } = labelling
  const pieces = piecesOf(labels, width)
  const isLarge = ({ pixels }: Piece) => pixels.length >= LEAST_ITEM * unit ** 2
  const isOnHead = ({ pixels }: Piece) => pixels.some((i) => i < width || isHairline(frame, i))
  const bags = pieces.filter((piece) => piece.value === LABEL.item && isLarge(piece))
  const heads = pieces.filter((piece) => piece.value === LABEL.hair && isOnHead(piece))
  const isNear = (piece: Piece, others: Piece[], reach: number) =>
    others.some((other) => gapBetween(piece, other, width) < reach * unit)
  const colourOf = (parts: Piece[]) =>
    medianColour(
      lab,
      parts.flatMap(({ pixels }) => [...pixels]),
    )
  const isStrand = (piece: Piece) =>
    isNear(piece, heads, STRAND.gap) && isLike(colourOf([piece]), colourOf(heads), STRAND)
  let hasHood = false
  for (const piece of pieces) {
    const { value: label, pixels } = piece
    const isOdd =
      (label === LABEL.item && !isNear(piece, bags, BAG_PARTS)) ||
      (label === LABEL.hair && !heads.includes(piece) && !isStrand(piece))
    if (!isOdd) continue
    if (label === LABEL.hair && pixels.length > LEAST_HOOD * unit ** 2) hasHood = true
    for (const i of pixels) costs[i * LABEL_COUNT + label] = IMPOSSIBLE
    for (const i of pixels) labels[i] = cheapestAt(costs, i)
  }
  return hasHood
}

const isHairline = ({ face, faceDown }: Frame, i: number) =>
  face[i]! < HAIRLINE && faceDown[i]! < MOUTH

/** How far apart the boxes around two pieces are, in pixels. */
function gapBetween(one: Piece, other: Piece, width: number): number {
  const a = boxOf(one, width)
  const b = boxOf(other, width)
  const dx = Math.max(0, a.left - b.right, b.left - a.right)
  const dy = Math.max(0, a.top - b.bottom, b.top - a.bottom)
  return Math.hypot(dx, dy)
}

function boxOf({ pixels }: Piece, width: number) {
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity }
  for (const i of pixels) {
    const x = i % width
    const y = (i - x) / width
    box.left = Math.min(box.left, x)
    box.right = Math.max(box.right, x)
    box.top = Math.min(box.top, y)
    box.bottom = Math.max(box.bottom, y)
  }
  return box
}

/** Gives every piece smaller than `least` pixels the label it borders on most. In place. */
export function dissolveSpecks({ width, labels }: Labelling, least: number): void {
  const pieces = piecesOf(labels, width).filter(({ pixels }) => pixels.length < least)
  for (const { value, pixels } of pieces) {
    const counts = new Uint32Array(LABEL_COUNT)
    for (const i of pixels) {
      const x = i % width
      for (const j of [x > 0 ? i - 1 : -1, x + 1 < width ? i + 1 : -1, i - width, i + width]) {
        const label = labels[j] ?? value
        if (label !== value) counts[label]!++
      }
    }
    const most = Math.max(...counts)
    if (most > 0) for (const i of pixels) labels[i] = counts.indexOf(most)
  }
}
