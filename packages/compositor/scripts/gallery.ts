// `npm run gallery`: renders pairs of sample people and garments with the compositor into contact
// sheets. Each pair is shown as person, garment, result.
import { mkdirSync, writeFileSync } from 'node:fs'
import {
  drawFigure,
  drawGarment,
  type FigureOptions,
  type GarmentOptions,
  type Rgba,
} from '../samples/index.ts'
import { verdict } from '../src/assess.ts'
import { compose } from '../src/compose.ts'
import { Refusal } from '../src/refusal.ts'
import { blank, grid, half, paste } from './evaluation/sheet.ts'
import { nodeCodecs } from './node-codecs.ts'
import { nodePerceiver } from './node-perceiver.ts'

const WIDTH = 600
const HEIGHT = 900
const PAIRS_PER_SHEET = 6
const JPEG_QUALITY = 88

const PAIRS: readonly (readonly [FigureOptions, GarmentOptions])[] = [
  [{}, { pattern: 'stripes', colour: '#1f3f6b', backdrop: '#cfd6da', shadow: true }],
  [
    { hair: 'long', arms: [30, 8], sleeves: 'long', skin: '#8d5a3c', wall: ['#e9dccb', '#cdbfa9'] },
    { kind: 'longsleeve', pattern: 'print', colour: '#2b5d8a', background: 'gradient' },
  ],
  [
    { hair: 'bun', build: 1.25, sleeves: 'none', arms: [20, 45], elbow: 70 },
    { kind: 'tank', pattern: 'checks', background: 'transparent' },
  ],
  [
    { build: 0.85, arms: [4, 4], wall: ['#ffffff', '#eeeeee'], shirt: '#f4f4f4' },
    { kind: 'hoodie', colour: '#8a5566', shadow: true },
  ],
  [
    { scale: 0.2, hair: 'long', sleeves: 'long', hairColour: '#c9a36a', skin: '#f0d0b8' },
    { colour: '#f7f7f7', pattern: 'print', accent: '#224488', backdrop: '#ffffff', shadow: true },
  ],
  [
    {
      skin: '#5b3a29',
      hair: 'bald',
      shirt: '#111111',
      wall: ['#e8c9a0', '#c9a070'],
      exposure: 0.7,
    },
    { kind: 'dress', colour: '#3d7a5a', edge: 'bad', background: 'transparent' },
  ],
  [
    { arms: [18, 18], shirt: '#b33a3a', sleeves: 'long', wall: ['#a8c0cc', '#8ea6b4'] },
    { kind: 'tank', colour: '#202428', background: 'plain', backdrop: '#f4f4f4', grain: 0.02 },
  ],
  [
    { hair: 'long', hairColour: '#7a3b1e', skin: '#e3b79a', shirt: '#3f6f4f', arms: [12, 22] },
    { pattern: 'checks', colour: '#d8b43a', accent: '#5a4a2a', background: 'gradient' },
  ],
  [
    { build: 1.15, skin: '#6f4630', trousers: '#222222', shirt: '#e0d8c8', light: 0.7 },
    { kind: 'hoodie', colour: '#c7b299', background: 'transparent', edge: 'bad' },
  ],
  [
    { build: 0.9, hair: 'bun', skin: '#f1cdb0', shirt: '#5d4a7a', arms: [25, 25], elbow: 20 },
    { kind: 'dress', pattern: 'stripes', colour: '#7a2740', backdrop: '#e9e9ea' },
  ],
  [
    { scale: 0.17, shirt: '#2a2d33', arms: [9, 9], wall: ['#cfcabf', '#b7b1a4'] },
    { colour: '#e46a2e', pattern: 'plain', shadow: true, grain: 0.015 },
  ],
  [
    { exposure: 0.55, shirt: '#707a70', arms: [16, 12], grain: 0.03 },
    {
      kind: 'longsleeve',
      pattern: 'stripes',
      colour: '#f2efe8',
      accent: '#23395b',
      backdrop: '#c3ccd2',
    },
  ],
  [
    { hair: 'bald', skin: '#a36a4a', build: 1.3, arms: [22, 22], shirt: '#dfe5ea' },
    { pattern: 'print', colour: '#1d1f22', accent: '#e3c14f', background: 'transparent' },
  ],
  [
    { hair: 'long', hairColour: '#1b1412', skin: '#c98f6a', shirt: '#c44f7a', sleeves: 'none' },
    { kind: 'longsleeve', colour: '#5f7f6a', shadow: true, backdrop: '#efece6' },
  ],
  [
    { arms: [45, 45], elbow: 10, shirt: '#46627f', wall: ['#f1e7df', '#dccfc4'] },
    { pattern: 'stripes', colour: '#33658a', accent: '#f6ae2d', backdrop: '#ededed' },
  ],
  [
    { arms: [35, 35], elbow: 75, shirt: '#7f7f46', build: 0.95 },
    { kind: 'tank', pattern: 'stripes', colour: '#a03c6b', background: 'gradient' },
  ],
  [
    { width: 700, height: 900, scale: 0.24, hair: 'short', shirt: '#8b9bb0', skin: '#dcb08f' },
    { kind: 'hoodie', pattern: 'plain', colour: '#2f4858', backdrop: '#fafafa', shadow: true },
  ],
  [
    { seed: 9, grain: 0.05, shirt: '#ffffff', wall: ['#7d8a94', '#5d6a74'], floor: '#54504c' },
    {
      pattern: 'checks',
      colour: '#b4463c',
      accent: '#2c2c34',
      edge: 'bad',
      background: 'transparent',
    },
  ],
  [
    { skin: '#4a2f22', hair: 'short', hairColour: '#0f0d0c', shirt: '#e8b04a', arms: [7, 15] },
    { kind: 'longsleeve', colour: '#efe6d8', background: 'gradient', backdrop: '#b9c4cc' },
  ],
  [
    { hair: 'long', hairColour: '#b9b4ae', skin: '#e8c4ae', build: 1.1, sleeves: 'long' },
    { kind: 'dress', pattern: 'print', colour: '#2c3e66', background: 'transparent' },
  ],
  [
    { wall: ['#6b8f71', '#4f7357'], shirt: '#d9d2c3', trousers: '#8a7a5c', light: -1 },
    { kind: 'tank', colour: '#f0f0f0', backdrop: '#9aa7b0', grain: 0.01 },
  ],
  [
    {
      hair: 'bun',
      hairColour: '#d8b25a',
      skin: '#f3d3bd',
      shirt: '#2f2f35',
      arms: [14, 30],
      elbow: 40,
    },
    { kind: 'hoodie', pattern: 'stripes', colour: '#6d8f3c', background: 'gradient' },
  ],
  [
    { shirt: '#9aa3ad', arms: [10, 10], scale: 0.105, build: 1 },
    { colour: '#7c4fa0', pattern: 'print', accent: '#ffd966', width: 600, height: 700 },
  ],
  [
    { hair: 'short', sleeves: 'long', shirt: '#355e3b', skin: '#b97a56', arms: [20, 20] },
    { pattern: 'plain', colour: '#86c5da', edge: 'bad', background: 'transparent', seed: 5 },
  ],
  // Poses: a hand on the hip, an arm across the body, half a figure, arms away from the body.
  [
    { arms: [55, 10], elbow: 95, hair: 'long', sleeves: 'none', shirt: '#c9b8a8' },
    { kind: 'longsleeve', pattern: 'stripes', colour: '#294c60', backdrop: '#e4e6e8' },
  ],
  [
    { arms: [6, 30], elbow: 100, skin: '#5b3a29', sleeves: 'long', shirt: '#8fa3b0' },
    { colour: '#c8553d', pattern: 'plain', backdrop: '#f2f2f2', shadow: true },
  ],
  [
    { scale: 0.26, arms: [25, 25], elbow: 50, hair: 'bun', skin: '#e8c4ae' },
    { kind: 'hoodie', colour: '#4f6d4a', background: 'transparent' },
  ],
  [
    { arms: [70, 70], elbow: 15, build: 1.2, skin: '#8d5a3c', shirt: '#39424e' },
    { pattern: 'checks', colour: '#e0b04a', accent: '#39424e', backdrop: '#dfe3e6' },
  ],
]

const folder = new URL('../../../gallery/out/', import.meta.url)
mkdirSync(folder, { recursive: true })
const panels: Rgba[] = []
for (const [index, [person, garment]] of PAIRS.entries()) {
  const model = drawFigure({ width: WIDTH, height: HEIGHT, seed: index + 1, ...person })
  const cloth = drawGarment({ width: 800, height: 900, ...garment })
  const before = { ...model, data: model.data.slice() }
  const startedAt = performance.now()
  try {
    const refusal = verdict(compose(model, cloth, nodePerceiver).assessment)
    if (refusal) console.log(`Pair ${index + 1}: ${refusal.code}: ${refusal.message}`)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    console.log(`Pair ${index + 1}: ${error.code}: ${error.message}`)
  }
  console.log(`Pair ${index + 1}: ${Math.round(performance.now() - startedAt)} ms`)
  panels.push(triptych(before, cloth, model))
}
for (let first = 0; first < panels.length; first += PAIRS_PER_SHEET) {
  const picture = grid(panels.slice(first, first + PAIRS_PER_SHEET), 3)
  const name = `sheet-${first / PAIRS_PER_SHEET + 1}.jpg`
  writeFileSync(new URL(name, folder), await nodeCodecs.encodeJpeg(picture, JPEG_QUALITY))
}
writeFileSync(
  new URL('all.jpg', folder),
  await nodeCodecs.encodeJpeg(half(grid(panels, 4)), JPEG_QUALITY),
)
console.log(`Wrote ${folder.pathname}`)

/** Person and garment at half size, one above the other, beside the result. */
function triptych(person: Rgba, garment: Rgba, result: Rgba): Rgba {
  const panel = blank(WIDTH * 1.5, HEIGHT)
  paste(panel, half(person), 0, 0)
  paste(panel, half(garment), 0, HEIGHT / 2)
  paste(panel, result, WIDTH / 2, 0)
  return panel
}
