// Text in pictures: capital letters, digits and signs, five pixels high before scaling.
import type { Raster } from '../../src/raster.ts'

/** Rows from top to bottom; `#` is ink. The width of a letter is that of its first row. */
const GLYPHS: Record<string, string> = {
  A: '.#. #.# ### #.# #.#',
  B: '##. #.# ##. #.# ##.',
  C: '### #.. #.. #.. ###',
  D: '##. #.# #.# #.# ##.',
  E: '### #.. ##. #.. ###',
  F: '### #.. ##. #.. #..',
  G: '#### #... #.## #..# ####',
  H: '#.# #.# ### #.# #.#',
  I: '# # # # #',
  J: '..# ..# ..# #.# ###',
  K: '#.# #.# ##. #.# #.#',
  L: '#.. #.. #.. #.. ###',
  M: '#...# ##.## #.#.# #...# #...#',
  N: '#..# ##.# #.## #..# #..#',
  O: '#### #..# #..# #..# ####',
  P: '### #.# ### #.. #..',
  Q: '#### #..# #..# #.## ####',
  R: '### #.# ##. #.# #.#',
  S: '### #.. ### ..# ###',
  T: '### .#. .#. .#. .#.',
  U: '#.# #.# #.# #.# ###',
  V: '#.# #.# #.# #.# .#.',
  W: '#...# #...# #.#.# ##.## #...#',
  X: '#.# #.# .#. #.# #.#',
  Y: '#.# #.# .#. .#. .#.',
  Z: '### ..# .#. #.. ###',
  0: '### #.# #.# #.# ###',
  1: '.# ## .# .# .#',
  2: '### ..# ### #.. ###',
  3: '### ..# .## ..# ###',
  4: '#.# #.# ### ..# ..#',
  5: '### #.. ### ..# ###',
  6: '### #.. ### #.# ###',
  7: '### ..# .#. .#. .#.',
  8: '### #.# ### #.# ###',
  9: '### #.# ### ..# ###',
  ' ': '.. .. .. .. ..',
  '.': '. . . . #',
  ',': '.. .. .. .# #.',
  ':': '. # . # .',
  ';': '.. .# .. .# #.',
  '-': '.. .. ## .. ..',
  _: '... ... ... ... ###',
  '+': '... .#. ### .#. ...',
  '=': '... ### ... ### ...',
  '/': '..# ..# .#. #.. #..',
  '%': '#..# ..#. .#.. #... #..#',
  '(': '.# #. #. #. .#',
  ')': '#. .# .# .# #.',
  '<': '..# .#. #.. .#. ..#',
  '>': '#.. .#. ..# .#. #..',
  '?': '### ..# .## ... .#.',
  '×': '... #.# .#. #.# ...',
}

const PARSED = new Map(Object.entries(GLYPHS).map(([letter, rows]) => [letter, rows.split(' ')]))

const rowsOf = (letter: string) => PARSED.get(letter.toUpperCase()) ?? PARSED.get('?') ?? []

/** The height of a line with its spacing, in pixels. */
export const lineHeight = (scale: number) => 7 * scale

/**
 * Writes a line in place, black or in the given colour. Letters that do not fit before `right` are
 * left out; letters that are not known appear as question marks.
 */
export function drawText(
  picture: Raster,
  text: string,
  left: number,
  top: number,
  { scale = 2, right = picture.width, colour = [0, 0, 0] as readonly number[] } = {},
): void {
  let x = left
  for (const letter of text) {
    const rows = rowsOf(letter)
    const width = rows[0]?.length ?? 0
    if (x + width * scale > right) return
    rows.forEach((row, dy) => {
      for (let dx = 0; dx < width; dx++) {
        if (row[dx] === '#') fill(picture, x + dx * scale, top + dy * scale, scale, colour)
      }
    })
    x += (width + 1) * scale
  }
}

function fill(
  { width, height, data }: Raster,
  left: number,
  top: number,
  size: number,
  colour: readonly number[],
): void {
  for (let y = Math.max(0, top); y < Math.min(height, top + size); y++) {
    for (let x = Math.max(0, left); x < Math.min(width, left + size); x++) {
      data.set([...colour, 255], (y * width + x) * 4)
    }
  }
}
