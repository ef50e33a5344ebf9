// Warps a picture with a pair of charts: each target pixel gets the coordinates of its source pixel.
import type { Chart } from './garment-chart.ts'
import { pauseInRows } from './pause.ts'
import type { Point, Raster, Size } from './raster.ts'

export interface WarpMap extends Size {
  /** Source coordinates of each target pixel; NaN where the cloth does not reach. */
  x: Float32Array
  y: Float32Array
}

export function createWarpMap(width: number, height: number): WarpMap {
  return {
    width,
    height,
    x: new Float32Array(width * height).fill(NaN),
    y: new Float32Array(width * height).fill(NaN),
  }
}

/** Empties the map, so that its memory serves another layer. */
export const clear = ({ x }: WarpMap) => x.fill(NaN)

export interface Patch {
  across: readonly [number, number]
  along: readonly [number, number]
  columns: number
  rows: number
}

/** Draws a patch of the cloth into the map, over its earlier content. */
export function layPatch(map: WarpMap, source: Chart, target: Chart, patch: Patch): void {
  const { across, along, columns, rows } = patch
  const grid = (chart: Chart) =>
    Array.from({ length: rows + 1 }, (_, row) =>
      Array.from({ length: columns + 1 }, (__, column) =>
        chart(
          across[0] + ((across[1] - across[0]) * column) / columns,
          along[0] + ((along[1] - along[0]) * row) / rows,
        ),
      ),
    )
  const from = grid(source)
  const to = grid(target)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const corners = [
        [row, column],
        [row, column + 1],
        [row + 1, column + 1],
        [row + 1, column],
      ] as const
      const [a, b, c, d] = corners.map(([r, k]) => to[r]![k]!) as [Point, Point, Point, Point]
      const [e, f, g, h] = corners.map(([r, k]) => from[r]![k]!) as [Point, Point, Point, Point]
      // Splits along the diagonal towards the middle, so that mirrored cloth has a mirrored result.
      if (column < columns / 2) {
        layTriangle(map, [a, b, c], [e, f, g])
        layTriangle(map, [a, c, d], [e, g, h])
      } else {
        layTriangle(map, [b, c, d], [f, g, h])
        layTriangle(map, [b, d, a], [f, h, e])
      }
    }
  }
}

type Triangle = readonly [Point, Point, Point]

function layTriangle(map: WarpMap, to: Triangle, from: Triangle): void {
  const [a, b, c] = to
  const area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
  if (Math.abs(area) < 1e-6) return
  const top = Math.max(0, Math.floor(Math.min(a.y, b.y, c.y)))
  const bottom = Math.min(map.height, Math.ceil(Math.max(a.y, b.y, c.y)))
  const left = Math.max(0, Math.floor(Math.min(a.x, b.x, c.x)))
  const right = Math.min(map.width, Math.ceil(Math.max(a.x, b.x, c.x)))
  const [e, f, g] = from
  for (let row = top; row < bottom; row++) {
    const y = row + 0.5
    for (let column = left; column < right; column++) {
      const x = column + 0.5
      const v = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) / area
      const w = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area
      if (v < -1e-6 || w < -1e-6 || v + w > 1 + 1e-6) continue
      const at = row * map.width + column
      map.x[at] = e.x + v * (f.x - e.x) + w * (g.x - e.x)
      map.y[at] = e.y + v * (f.y - e.y) + w * (g.y - e.y)
    }
  }
}

/** Renders the source through the map; transparent where the map is empty. */
export async function render(map: WarpMap, source: Raster): Promise<Raster> {
  const { width, height } = map
  const data = new Uint8ClampedArray(width * height * 4)
  const colour = new Float64Array(4)
  for (let row = 0, at = 0; row < height; row++) {
    await pauseInRows(row, map)
    for (let column = 0; column < width; column++, at++) {
      const x = map.x[at]!
      if (Number.isNaN(x)) continue
      pick(source, x - 0.5, map.y[at]! - 0.5, colour)
      for (let c = 0; c < 4; c++) data[at * 4 + c] = colour[c]!
    }
  }
  const layer = { width, height, data }
  smoothEdges(layer)
  return layer
}

/** Softens the steps that the border of a patch leaves in alpha. Never adds cover. */
function smoothEdges({ width, height, data }: Raster): void {
  let above = new Uint8Array(width)
  for (let y = 1; y + 1 < height; y++) {
    const row = new Uint8Array(width)
    for (let x = 0; x < width; x++) row[x] = data[(y * width + x) * 4 + 3]!
    for (let x = 1; x + 1 < width; x++) {
      if (row[x] === 0) continue
      const below = ((y + 1) * width + x) * 4 + 3
      const sum =
        above[x - 1]! +
        above[x]! +
        above[x + 1]! +
        row[x - 1]! +
        row[x]! +
        row[x + 1]! +
        data[below - 4]! +
        data[below]! +
        data[below + 4]!
      // From a third of full cover to all of it.
      const soft = (sum / 9 - 255 / 3) * 1.5
      if (soft < row[x]!) data[(y * width + x) * 4 + 3] = soft
    }
    above = row
  }
}

/** Interpolates weighted by alpha, so that colours of transparent pixels do not show. */
function pick(source: Raster, x: number, y: number, colour: Float64Array): void {
  const { width, height, data } = source
  colour.fill(0)
  if (x < -1 || y < -1 || x > width || y > height) return
  const left = Math.floor(x)
  const top = Math.floor(y)
  let alpha = 0
  for (let dy = 0; dy < 2; dy++) {
    for (let dx = 0; dx < 2; dx++) {
      const share = (dx === 0 ? left + 1 - x : x - left) * (dy === 0 ? top + 1 - y : y - top)
      const inside = left + dx >= 0 && left + dx < width && top + dy >= 0 && top + dy < height
      if (!inside) continue
      const at = ((top + dy) * width + left + dx) * 4
      const weight = share * data[at + 3]!
      alpha += weight
      for (let c = 0; c < 3; c++) colour[c] = colour[c]! + weight * data[at + c]!
    }
  }
  if (alpha > 0) for (let c = 0; c < 3; c++) colour[c] = colour[c]! / alpha
  colour[3] = alpha
}
