// Areas of the analysed picture, as counts and shares of pixels.

export interface Size {
  width: number
  height: number
}

/** The share of the pixels of `whole` that are also in `part`; `none` when `whole` is empty. */
export function shareOf(
  { width, height }: Size,
  whole: (i: number) => boolean,
  part: (i: number) => boolean,
  none = 0,
): number {
  let [all, some] = [0, 0]
  for (let i = 0; i < width * height; i++) {
    if (!whole(i)) continue
    all++
    if (part(i)) some++
  }
  return all === 0 ? none : some / all
}

/** How many pixels count in each connected piece of a set of pixels, largest first. */
export function pieceSizes(
  { width, height }: Size,
  isIn: (i: number) => boolean,
  counts: (i: number) => boolean,
): number[] {
  const seen = new Uint8Array(width * height)
  const stack: number[] = []
  const sizes: number[] = []
  const visit = (i: number) => {
    if (seen[i] !== 0 || !isIn(i)) return
    seen[i] = 1
    stack.push(i)
  }
  for (let start = 0; start < seen.length; start++) {
    visit(start)
    let size = 0
    for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
      if (counts(i)) size++
      if (i % width > 0) visit(i - 1)
      if (i % width < width - 1) visit(i + 1)
      if (i >= width) visit(i - width)
      if (i + width < seen.length) visit(i + width)
    }
    if (size > 0) sizes.push(size)
  }
  return sizes.sort((a, b) => b - a)
}
