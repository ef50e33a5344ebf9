// Where the person's current clothes begin and end.
import type { Body } from './body.ts'
import { LABEL, type Label, type Parsing } from './parsing.ts'
import { median } from './plane.ts'

/** Heights in the body's frame; NaN for what is not seen. */
export interface Scene {
  /** The lower edge of the current top or dress. */
  hemY: number
  /** The upper edge of the visible part of the current trousers or skirt. */
  waistY: number
}

export function readScene(parsing: Parsing, body: Body): Scene {
  return {
    hemY: edgeOf(parsing, body, LABEL.top, 'last'),
    waistY: edgeOf(parsing, body, LABEL.bottom, 'first'),
  }
}

const LINES = 13

/** The usual height of the first or last pixel of a label on lines along the middle of the body. */
function edgeOf(
  { width, height, labels }: Parsing,
  body: Body,
  label: Label,
  which: 'first' | 'last',
): number {
  const found: number[] = []
  for (let line = 0; line < LINES; line++) {
    const x = (line / (LINES - 1) - 0.5) * 0.6 * body.size
    let edge = NaN
    for (let y = Math.round(-0.2 * body.torso); y < 3.2 * body.torso; y++) {
      const point = body.frame.toPicture({ x, y })
      const [column, row] = [Math.floor(point.x), Math.floor(point.y)]
      if (column < 0 || row < 0 || column >= width || row >= height) continue
      if (labels[row * width + column] !== label) continue
      edge = y
      if (which === 'first') break
    }
    if (!Number.isNaN(edge)) found.push(edge)
  }
  return found.length < 4 ? NaN : median(found)
}
