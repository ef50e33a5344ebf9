// From planes of luma and chroma to rows of pixels (JFIF). Chroma in half resolution is interpolated.

/** The latest rows of one component. */
export interface Plane {
  data: Uint8ClampedArray
  stride: number
  /** How many rows it holds. Row `y` of the picture is at `y % rows`. */
  rows: number
  /** In which directions the plane has half of the picture's resolution. */
  half: { across: boolean; down: boolean }
  /** The buffer of a row at the picture's resolution. */
  line: Uint8ClampedArray
  /** The size of the whole plane, without what blocks have beyond the picture. */
  width: number
  height: number
}

/** Writes row `y` of the picture as red, green and blue. The alpha of `row` is left as it is. */
export function writeRow(planes: readonly Plane[], y: number, row: Uint8ClampedArray): void {
  const [luma, blue, red] = planes
  const from = rowOf(luma!, y)
  if (!blue || !red) {
    for (let x = 0, at = 0; at < row.length; x++, at += 4) {
      row[at] = row[at + 1] = row[at + 2] = from[x]!
    }
    return
  }
  const [fromBlue, fromRed] = [chromaRow(blue, y), chromaRow(red, y)]
  for (let x = 0, at = 0; at < row.length; x++, at += 4) {
    const light = from[x]!
    const b = fromBlue[x]! - 128
    const r = fromRed[x]! - 128
    // 1.402, 0.344136, 0.714136 and 1.772 in units of 1/65,536, rounded to the nearest number.
    row[at] = light + ((91_881 * r + 32_768) >> 16)
    row[at + 1] = light + ((32_768 - 22_554 * b - 46_802 * r) >> 16)
    row[at + 2] = light + ((116_130 * b + 32_768) >> 16)
  }
}

const rowOf = ({ data, stride, rows }: Plane, y: number) =>
  data.subarray((y % rows) * stride, ((y % rows) + 1) * stride)

/** Chroma at the resolution of the picture: three quarters of the nearest row and column, and one of the next. */
function chromaRow(plane: Plane, y: number): Uint8ClampedArray {
  const { half, width, height, line } = plane
  if (!half.across && !half.down) return rowOf(plane, y)
  const nearest = half.down ? y >> 1 : y
  const next = half.down ? nearest + (y % 2 === 0 ? -1 : 1) : y
  const near = rowOf(plane, nearest)
  const far = rowOf(plane, Math.min(Math.max(next, 0), height - 1))
  if (!half.across) {
    for (let x = 0; x < width; x++) line[x] = (3 * near[x]! + far[x]! + 2) >> 2
    return line
  }
  let before = 3 * near[0]! + far[0]!
  let here = before
  for (let x = 0; x < width; x++) {
    const after = x + 1 < width ? 3 * near[x + 1]! + far[x + 1]! : here
    line[2 * x] = (3 * here + before + 8) >> 4
    line[2 * x + 1] = (3 * here + after + 7) >> 4
    before = here
    here = after
  }
  return line
}
