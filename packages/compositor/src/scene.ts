// Where the person's current clothes begin and end.
import type { Body } from './body.ts'
import { LABEL, type Label, type Parsing } from './parsing.ts'
import { median } from './plane.ts'
import { indexAt } from './raster.ts'

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

/** The lines that are searched, and how many must find an edge. */
const LINES = 13
const LEAST_FOUND = 4
/** The width of the band of lines, relative to the body's size. */
const BAND = 0.6
/** Where the lines begin and end, in lengths of the torso below the shoulders. */
const SEARCH = { from: -0.2, to: 3.2 }

/** The usual height of the first or last pixel of a label on lines along the middle of the body. */
function edgeOf(parsing: Parsing, body: Body, label: Label, which: 'first' | 'last'): number {
  const found: number[] = []
  for (let line = 0; line < LINES; line++) {
    const x = (line / (LINES - 1) - 0.5) * BAND * body.size
    let edge = NaN
    for (let y = Math.round(SEARCH.from * body.torso); y < SEARCH.to * body.torso; y++) {
      if (parsing.labels[indexAt(parsing, body.frame.toPicture({ x, y }))] !== label) continue
      edge = y
      if (which === 'first') break
    }
    if (!Number.isNaN(edge)) found.push(edge)
  }
  return found.length < LEAST_FOUND ? NaN : median(found)
}
