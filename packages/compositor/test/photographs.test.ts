/// <reference types="vite/types/importMeta.d.ts" />
// Properties of pictures composed from photo-like renders (samples/README.md): each person with each
// garment in `npm run test:all`, each person and each garment at least once in `npm test`.
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { verdict } from '../src/assess/verdict.ts'
import { compose, type Composition } from '../src/compose.ts'
import { LABEL, parse } from '../src/parsing.ts'
import { distance } from '../src/lines.ts'
import { JOINTS } from '../src/perception.ts'
import { ANALYSIS_SIDE, shrink, type Raster } from '../src/raster.ts'
import { readGarment } from '../src/garment/read.ts'
import { codecs, tools } from './files.ts'

const urls = import.meta.glob<string>(['./photos/*.jpg', '../../../samples/*.jpg'], {
  query: '?inline',
  import: 'default',
  eager: true,
})

/** A picture by its file name, at most `maxSide` pixels long. */
async function photo(name: string, maxSide: number): Promise<Raster> {
  const [, url] = Object.entries(urls).find(([path]) => path.endsWith(`/${name}.jpg`)) ?? []
  const base64 = url!.slice(url!.indexOf(',') + 1)
  return codecs.decode(Buffer.from(base64, 'base64'), 'jpeg', maxSide)
}

const PEOPLE = ['model', 'man-tee-hip', 'woman-dark-tank-hip', 'woman-dark-tee', 'woman-dress']

const GARMENTS = [
  ['garment', 'top'],
  ['tank-mustard', 'top'],
  ['long-sleeve-black', 'top'],
  ['dress-blue', 'dress'],
  ['skirt-black', 'skirt'],
  ['trousers-beige', 'trousers'],
] as const

it('labels a dress as one piece', async () => {
  const picture = await photo('woman-dress', ANALYSIS_SIDE)
  const perceiver = await tools.perceiver()
  const { labels } = await parse(picture, await perceiver.perceive(picture), perceiver)
  const share = (label: number) => labels.filter((found) => found === label).length / labels.length
  expect(share(LABEL.top)).toBeGreaterThan(0.15)
  expect(share(LABEL.bottom)).toBeLessThan(0.005)
})

const isSample = inject('matrix') === 'sample'

/** In a sample, each person gets one garment, and one person two. */
const garmentsFor = (person: string) =>
  GARMENTS.filter((_, at) => !isSample || PEOPLE[(at + 1) % PEOPLE.length] === person)

describe('readGarment', () => {
  it.each(GARMENTS)('reads %s as %s', async (name, kind) => {
    const perceiver = await tools.perceiver()
    expect((await readGarment(await photo(name, 1024), perceiver))?.kind).toBe(kind)
  })

  /** The heights of two places in the middle, as shares: within the neck opening, and on the band below it. */
  it.each([
    ['garment', 0.21, 0.24],
    ['tee-printed', 0.173, 0.2],
    ['long-sleeve-black', 0.21, 0.237],
    ['dress-blue', 0.183, 0.213],
  ])('cuts what the neck of %s shows, and keeps its band', async (name, opening, band) => {
    const garment = await readGarment(await photo(name, 1024), await tools.perceiver())
    const { width, height, data } = garment!.picture
    const alphaAt = (share: number) =>
      data[(Math.round(height * share) * width + Math.round(width / 2)) * 4 + 3]
    expect(alphaAt(opening)).toBe(0)
    expect(alphaAt(band)).toBe(255)
  })
})

describe.each(PEOPLE)('compose, with %s', (person) => {
  const garments = garmentsFor(person)
  let results: Record<string, Composition>
  beforeAll(async () => {
    const perceiver = await tools.perceiver()
    results = {}
    for (const [name] of garments) {
      results[name] = await compose(await photo(person, 768), await photo(name, 768), perceiver)
    }
  }, 120_000)

  it('composes most garments well enough to deliver them', () => {
    const refused = garments.flatMap(([name]) => {
      const problem = verdict(results[name]!.assessment)
      return problem ? [`${name}: ${problem.message}`] : []
    })
    expect(refused.length, refused.join('; ')).toBeLessThanOrEqual(isSample ? 0 : 1)
  })

  it('leaves the face and the ground away from the body as they are', () => {
    for (const { assessment } of Object.values(results)) {
      expect(assessment.faceChange).toBeLessThan(3)
      expect(assessment.groundChange).toBeLessThan(1)
    }
  })

  it('leaves the joints where they are', async () => {
    const perceiver = await tools.perceiver()
    for (const { picture, steps } of Object.values(results)) {
      const { pose } = await perceiver.perceive(shrink(picture, ANALYSIS_SIDE))
      for (const name of JOINTS.filter((name) => /Shoulder|Elbow|Hip/.test(name))) {
        const [before, after] = [steps.perception.pose[name], pose[name]]
        if (before.score < 0.4) continue
        expect(distance(before, after) / steps.body.size, name).toBeLessThan(0.4)
      }
    }
  })

  it('labels face or neck, clothes and skin', () => {
    const { labels } = Object.values(results)[0]!.steps.parsing
    const share = (label: number) =>
      labels.filter((value) => value === label).length / labels.length
    expect(share(LABEL.top)).toBeGreaterThan(0.05)
    expect(share(LABEL.skin)).toBeGreaterThan(0.01)
  })

  it('covers the chest with the colours of the garment', () => {
    for (const [name, kind] of garments) {
      if (kind !== 'top' && kind !== 'dress') continue
      expect(results[name]!.assessment.coverage).toBeGreaterThan(0.7)
    }
  })
})

it('ends a top where it ends on the person who wears it in its picture', async () => {
  const perceiver = await tools.perceiver()
  const { steps } = await compose(
    await photo('model', 768),
    await photo('woman-dark-tee', 768),
    perceiver,
  )
  const { garment, perception, covered } = steps
  if (garment.kind !== 'top' || !garment.wearer) throw new Error('the picture shows a worn top')
  const { shoulderY, torso } = garment.wearer
  const worn = (garment.hem[Math.floor(garment.hem.length / 2)]!.y - shoulderY) / torso

  const { leftShoulder, rightShoulder, leftHip, rightHip } = perception.pose
  const shoulders = (leftShoulder.y + rightShoulder.y) / 2
  const hips = (leftHip.y + rightHip.y) / 2
  const middle = Math.round((leftHip.x + rightHip.x) / 2)
  const column = Array.from(
    { length: covered.height },
    (_, y) => covered.data[y * covered.width + middle]!,
  )
  const hem = (column.findLastIndex((alpha) => alpha > 0.5) - shoulders) / (hips - shoulders)
  expect(worn).toBeGreaterThan(1)
  expect(Math.abs(hem - worn)).toBeLessThan(0.1)
})

describe('a portrait that ends above the hips', () => {
  const HEIGHT = 425
  const portrait = async (): Promise<Raster> => {
    const whole = await photo('model', 768)
    return { ...whole, height: HEIGHT, data: whole.data.slice(0, whole.width * HEIGHT * 4) }
  }

  it('is dressed in a top down to its end', async () => {
    const perceiver = await tools.perceiver()
    const product = await photo('long-sleeve-black', 768)
    const { picture, assessment } = await compose(await portrait(), product, perceiver)
    expect(verdict(assessment)).toBeNull()
    expect(picture).toMatchObject({ width: 576, height: HEIGHT })
    expect(picture.data).toHaveLength(576 * HEIGHT * 4)
    const middle = (picture.width * (HEIGHT - 1) + picture.width / 2) * 4
    expect(Math.max(...picture.data.subarray(middle, middle + 3))).toBeLessThan(80)
  })

  it('cannot wear trousers', async () => {
    const perceiver = await tools.perceiver()
    const product = await photo('trousers-beige', 768)
    await expect(compose(await portrait(), product, perceiver)).rejects.toMatchObject({
      code: 'person_not_found',
      message: 'No person is visible, or too little of their body.',
    })
  })
})
