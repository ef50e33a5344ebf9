// One pair through the engine, with times, and the picture of what happened.
import { readFileSync } from 'node:fs'
import { detectFormat } from '@try-on/image-files'
import { verdict } from '../../src/assess/verdict.ts'
import { compose } from '../../src/compose.ts'
import { encodeJpeg, GARMENT_MAX_SIDE, JPEG_QUALITY, MODEL_MAX_SIDE } from '../../src/index.ts'
import { load, UnusableImage } from '../../src/load.ts'
import type { Perceiver } from '../../src/perception.ts'
import { flatten, type Raster } from '../../src/raster.ts'
import { CompositionError } from '../../src/composition-error.ts'
import { nodeCodecs } from '../node-codecs.ts'
import type { Pair } from './pairs.ts'
import type { Outcome } from './ratings.ts'
import { sheetOf, type Stages } from './sheet.ts'

export interface Report extends Outcome {
  /** The error code of the job; null when delivered. */
  code: string | null
  reason: string
  assessment: Record<string, number>
  ms: Record<'decode' | 'models' | 'compose' | 'encode', number>
  /** Megabytes: the process, and the models' WebAssembly memory. */
  memory: { process: number; models: number }
}

export interface Run {
  report: Report
  /** The result's file; null when nothing was drawn. Refused results are drawn, too. */
  jpeg: Uint8Array | null
  sheet: Raster
}

/** CPU time of this thread, ms: other load on the machine changes it less than the time that passes. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Never throws: a failure is an outcome. */
export async function runPair(
  pair: Pair,
  folders: { models: string; garments: string },
  perceiver: Perceiver,
): Promise<Run> {
  const ms = { decode: 0, models: 0, compose: 0, encode: 0 }
  const timed = async <T>(step: keyof typeof ms, work: () => T | Promise<T>): Promise<T> => {
    const startedAt = cpuMs()
    try {
      return await work()
    } finally {
      ms[step] += cpuMs() - startedAt
    }
  }
  const watched: Perceiver = {
    usage: () => perceiver.usage(),
    perceive: (picture, look) => timed('models', () => perceiver.perceive(picture, look)),
    salience: (picture) => timed('models', () => perceiver.salience(picture)),
    opening: (picture, box) => timed('models', () => perceiver.opening(picture, box)),
    product: (picture) => timed('models', () => perceiver.product(picture)),
    parts: (planes) => timed('models', () => perceiver.parts(planes)),
  }
  const stages: Stages = {}
  let jpeg: Uint8Array | null = null
  let ending: Ending = { outcome: 'delivered', code: null, reason: '' }
  try {
    const productFile = `${folders.garments}/${pair.garment}`
    const photoFile = `${folders.models}/${pair.model}`
    const product = await timed('decode', () => pictureAt(productFile, 'garment', GARMENT_MAX_SIDE))
    stages.product = product
    const photo = await timed('decode', () => pictureAt(photoFile, 'model', MODEL_MAX_SIDE))
    stages.photo = photo
    flatten(photo)
    const model = { ...photo, data: photo.data.slice() }
    const composition = await timed('compose', () => compose(model, product, watched))
    stages.composition = composition
    jpeg = await timed('encode', () => encodeJpeg(composition.picture, JPEG_QUALITY))
    const problem = verdict(composition.assessment)
    if (problem) ending = endingOf(problem)
  } catch (cause) {
    ending = endingOf(cause)
  }
  ms.compose = Math.max(0, ms.compose - ms.models)
  const report: Report = {
    pair,
    ...ending,
    assessment: { ...stages.composition?.assessment },
    ms,
    memory: {
      process: process.memoryUsage().rss / 1e6,
      models: perceiver.usage().heapBytes / 1e6,
    },
  }
  return { report, jpeg, sheet: sheetOf(stages) }
}

/**
 * The picture in a file, with at most `side` pixels on its longer side.
 * @throws UnusableImage; Error when it is not an image file
 */
export async function pictureAt(
  path: string,
  role: 'model' | 'garment',
  side: number,
): Promise<Raster> {
  const bytes = Uint8Array.from(readFileSync(path))
  const format = detectFormat(bytes)
  if (!format) throw new Error(`${path} is not a JPEG, PNG or WebP file`)
  return load(nodeCodecs, { bytes, format }, role, side)
}

type Ending = Pick<Report, 'outcome' | 'code' | 'reason'>

function endingOf(cause: unknown): Ending {
  if (cause instanceof CompositionError) {
    return { outcome: 'refused', code: cause.code, reason: cause.message }
  }
  if (cause instanceof UnusableImage) {
    return { outcome: 'refused', code: `${cause.role}: ${cause.problem}`, reason: cause.message }
  }
  const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return { outcome: 'failed', code: 'generation_failed', reason: reason.slice(0, 500) }
}
