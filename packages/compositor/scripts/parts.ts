// `npm run parts -- --photos DIR --out DIR`: writes what the model of the parts of a person sees of photos, to train it
// (`models/parts.py`): NAME.bin, the planes of a square with a margin, of which the model sees the middle.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { parseArgs } from 'node:util'
import { opaque } from '../src/garment/read.ts'
import { isWornOnLegs, wearerIn, withLegs } from '../src/garment/wearer.ts'
import { GARMENT_MAX_SIDE } from '../src/index.ts'
import { coarse, COARSE_SIDE } from '../src/parsing.ts'
import { boxOf, planesOf } from '../src/parsing/sight.ts'
import { ANALYSIS_SIDE, shrink } from '../src/raster.ts'
import { picturesIn } from './evaluation/arguments.ts'
import { pictureAt } from './evaluation/run.ts'
import { nodeTools } from './node-tools.ts'

const { values } = parseArgs({ options: { photos: { type: 'string' }, out: { type: 'string' } } })
const { photos, out } = values
if (!photos || !out) throw new Error('Usage: npm run parts -- --photos DIR --out DIR')
mkdirSync(out, { recursive: true })

/** As in `models/parts.py`: the side of the square, and the margin on each side as a share of the box that the model sees. */
const SQUARE = { side: 128, margin: 0.15 }

const perceiver = await nodeTools.perceiver()
const names = picturesIn('--photos', photos)
for (const name of names) {
  const picture = opaque(
    shrink(await pictureAt(join(photos, name), 'garment', GARMENT_MAX_SIDE), ANALYSIS_SIDE),
  )
  const found = await perceiver.perceive(picture)
  const isLegs = !wearerIn(found, picture) && isWornOnLegs(found)
  const perception = isLegs ? await withLegs(picture, found, perceiver) : found
  const small = shrink(picture, COARSE_SIDE)
  const seen = coarse(perception, small)
  const { x, y, width, height } = boxOf(seen)
  const { side, margin } = SQUARE
  const box = {
    x: x - margin * width,
    y: y - margin * height,
    width: (1 + 2 * margin) * width,
    height: (1 + 2 * margin) * height,
  }
  const { planes } = planesOf(small, seen, box, side)
  const bytes = Uint8Array.from(planes, (value) => Math.round(value * 255))
  writeFileSync(join(out, `${parse(name).name}.bin`), bytes)
}
console.log(`${names.length} pictures`)
