// `npm run openings -- --garments DIR --out DIR`: writes what the model of neck openings sees of product photos, to train it
// (`models/opening.py`).
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { parseArgs } from 'node:util'
import { CompositionError } from '../src/composition-error.ts'
import { GARMENT_MAX_SIDE } from '../src/index.ts'
import { readGarment } from '../src/garment/read.ts'
import type { Box, Perceiver } from '../src/perception.ts'
import type { Raster } from '../src/raster.ts'
import { picturesIn } from './evaluation/arguments.ts'
import { pictureAt } from './evaluation/run.ts'
import { nodeTools } from './node-tools.ts'

const { values } = parseArgs({ options: { garments: { type: 'string' }, out: { type: 'string' } } })
const { garments, out } = values
if (!garments || !out) throw new Error('Usage: npm run openings -- --garments DIR --out DIR')
mkdirSync(out, { recursive: true })
const perceiver = await nodeTools.perceiver()

let count = 0
for (const name of picturesIn('--garments', garments)) {
  let seen: { picture: Raster; box: Box } | null = null
  const watching: Perceiver = {
    ...perceiver,
    opening(picture, box) {
      seen = { picture, box }
      return perceiver.opening(picture, box)
    },
  }
  const photo = await pictureAt(join(garments, name), 'garment', GARMENT_MAX_SIDE)
  try {
    await readGarment(photo, watching)
  } catch (cause) {
    if (!(cause instanceof CompositionError)) throw cause
  }
  if (!seen) continue
  write(parse(name).name, seen)
  count++
}
console.log(`${count} pictures`)

/** The picture as NAME.ppm, and the box in NAME.json. */
function write(name: string, { picture, box }: { picture: Raster; box: Box }): void {
  const { width, height, data } = picture
  const head = Buffer.from(`P6\n${width} ${height}\n255\n`)
  const rgb = Uint8Array.from(data.filter((_, i) => i % 4 < 3))
  writeFileSync(join(out!, `${name}.ppm`), Buffer.concat([head, rgb]))
  writeFileSync(join(out!, `${name}.json`), JSON.stringify(box))
}
