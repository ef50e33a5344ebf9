// One pair through the engine, with times, and the picture of what happened.
import { readFileSync } from 'node:fs'
import { detectFormat } from '@try-on/image-files'
import { verdict } from '../../src/assess.ts'
import { compose, type Composition } from '../../src/compose.ts'
import { Refusal } from '../../src/refusal.ts'
import { load, UnusableImage } from '../../src/load.ts'
import type { Perceiver } from '../../src/perception.ts'
import { flatten, type Raster } from '../../src/raster.ts'
import { nodeCodecs } from '../node-codecs.ts'
import { garmentOverlay, personOverlay } from './overlay.ts'
import type { Pair } from './pairs.ts'
import { blank, fitInto, paste } from './sheet.ts'
import { drawText, lineHeight } from './text.ts'

/** As in `dress`. */
const MODEL_MAX_SIDE = 1536
const GARMENT_MAX_SIDE = 1024

export interface Report {
  pair: Pair
  outcome: 'delivered' | 'refused' | 'failed'
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
  panel: Raster
}

/** Never throws: a failure is an outcome. */
export async function runPair(
  pair: Pair,
  folders: { models: string; garments: string },
  perceiver: Perceiver,
): Promise<Run> {
  const ms = { decode: 0, models: 0, compose: 0, encode: 0 }
  const timed = <T>(step: keyof typeof ms, work: () => T): T => {
    const startedAt = performance.now()
    try {
      return work()
    } finally {
      ms[step] += performance.now() - startedAt
    }
  }
  const watched: Perceiver = {
    usage: () => perceiver.usage(),
    perceive: (picture) => timed('models', () => perceiver.perceive(picture)),
  }
  let photo: Raster | undefined
  let product: Raster | undefined
  let composition: Composition | undefined
  let jpeg: Uint8Array | null = null
  let failure: Failure = { outcome: 'delivered', code: null, reason: '' }
  try {
    const startedAt = performance.now()
    product = await pictureAt(`${folders.garments}/${pair.garment}`, 'garment', GARMENT_MAX_SIDE)
    photo = await pictureAt(`${folders.models}/${pair.model}`, 'model', MODEL_MAX_SIDE)
    flatten(photo)
    ms.decode = performance.now() - startedAt
    const model = { ...photo, data: photo.data.slice() }
    const garment = product
    composition = timed('compose', () => compose(model, garment, watched))
    ms.compose -= ms.models
    const encodedAt = performance.now()
    jpeg = await nodeCodecs.encodeJpeg(composition.picture, 90)
    ms.encode = performance.now() - encodedAt
    const refusal = verdict(composition.assessment)
    if (refusal) failure = failureOf(refusal)
  } catch (cause) {
    failure = failureOf(cause)
  }
  const report: Report = {
    pair,
    ...failure,
    assessment: { ...composition?.assessment },
    ms,
    memory: {
      process: process.memoryUsage().rss / 1e6,
      models: perceiver.usage().heapBytes / 1e6,
    },
  }
  return { report, jpeg, panel: panelOf(report, photo, product, composition) }
}

async function pictureAt(path: string, role: 'model' | 'garment', side: number): Promise<Raster> {
  const bytes = Uint8Array.from(readFileSync(path))
  const format = detectFormat(bytes)
  if (!format) throw new Error(`${path} is no JPEG, PNG or WebP file`)
  return load(nodeCodecs, { bytes, format }, role, side)
}

type Failure = Pick<Report, 'outcome' | 'code' | 'reason'>

function failureOf(cause: unknown): Failure {
  if (cause instanceof Refusal) {
    return { outcome: 'refused', code: cause.code, reason: cause.message }
  }
  if (cause instanceof UnusableImage) {
    return { outcome: 'refused', code: `${cause.role}: ${cause.problem}`, reason: cause.message }
  }
  const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  return { outcome: 'failed', code: 'generation_failed', reason: reason.slice(0, 500) }
}

const RESULT = { width: 530, height: 704 }
const SMALL = { width: 176, height: 234 }
const TEXT = 2

/** Person, garment and what was understood in a column; the result beside them; text below. */
function panelOf(
  report: Report,
  photo: Raster | undefined,
  product: Raster | undefined,
  composition: Composition | undefined,
): Raster {
  const lines = labelOf(report)
  const panel = blank(SMALL.width + RESULT.width + 12, RESULT.height + 4 * lineHeight(TEXT) + 8)
  const column = [photo, undefined, undefined]
  if (composition) {
    const { before, perception, parsing, garment, covered } = composition.steps
    column[1] = garmentOverlay(garment)
    column[2] = personOverlay(before, perception, parsing, covered)
  } else {
    column[1] = product
  }
  column.forEach((picture, i) => {
    if (picture)
      paste(panel, fitInto(picture, SMALL.width, SMALL.height), 0, i * (SMALL.height + 1))
  })
  const { width, height } = RESULT
  if (composition) {
    paste(panel, fitInto(composition.picture, width, height), SMALL.width + 4, 0)
  }
  const colour = report.outcome === 'delivered' ? [0, 90, 0] : [200, 0, 0]
  lines.forEach((line, i) => {
    const top = height + 4 + i * lineHeight(TEXT)
    drawText(panel, line, 2, top, { scale: TEXT, colour: i === 0 ? colour : [0, 0, 0] })
  })
  return panel
}

function labelOf({ pair, outcome, code, reason, assessment, ms }: Report): string[] {
  const numbers = Object.entries(assessment).map(([name, value]) => `${name} ${short(value)}`)
  const half = Math.ceil(numbers.length / 2)
  const total = Object.values(ms).reduce((sum, time) => sum + time, 0)
  return [
    `${pair.model} ${pair.garment} ${outcome} ${Math.round(total)} ms`,
    code ? `${code}: ${reason.split('\n')[0]}` : '',
    numbers.slice(0, half).join(' '),
    numbers.slice(half).join(' '),
  ]
}

/** Two significant digits. */
export const short = (value: number) => String(Number(value.toPrecision(2)))
