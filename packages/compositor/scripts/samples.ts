// Draws the image files in samples/: `node packages/compositor/scripts/samples.ts`.
import { writeFileSync } from 'node:fs'
import { drawFigure, drawGarment } from '../samples/index.ts'
import { encodePng } from '@try-on/image-files/samples'
import { nodeCodecs } from './node-codecs.ts'

const target = new URL('../../../samples/', import.meta.url)

const model = drawFigure({ hair: 'short', seed: 7 })
writeFileSync(new URL('model.jpg', target), await nodeCodecs.encodeJpeg(model, 88))

const shirt = { kind: 'tshirt', pattern: 'stripes', colour: '#1f3f6b', accent: '#f1ece0' } as const
const flat = drawGarment({ ...shirt, backdrop: '#c3ced6', shadow: true, grain: 0.006 })
writeFileSync(new URL('garment.jpg', target), await nodeCodecs.encodeJpeg(flat, 88))
const cutOut = drawGarment({ ...shirt, background: 'transparent' })
writeFileSync(new URL('garment.png', target), await encodePng(cutOut))
