// Memory and CPU time of the embedded engine, in Node: the codecs and models are the same as in workerd.
// CPU time is that of the JavaScript thread, which the limit of a Worker counts.
// Memory is counted in MB of 1,048,576 bytes, as the limit of a Worker is.
import { readFileSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { dress, encodeJpeg, type Tools } from '@try-on/compositor'
import { nodeTools } from '@try-on/compositor/node-tools'
import { concat, jpegSegment } from '@try-on/image-files/samples'
import { createRandom, drawFigure, drawGarment, type Rgba } from '@try-on/compositor/samples'

/** For usual pictures and for files of 10 MB; the rest of a Worker's 128 MB is JavaScript. */
const MAX_MB = 100
/** For the pairs that need the most memory of all that are accepted. */
const MAX_MB_AT_THE_LIMIT = 115
const MAX_CPU_MS = 3_000

const MB = 1024 * 1024

interface Pair {
  name: string
  limitMb: number
  model: () => Promise<Uint8Array<ArrayBuffer>>
  garment: () => Promise<Uint8Array<ArrayBuffer>>
}

const PAIRS: Pair[] = [
  {
    name: 'samples, 0.8 and 1.2 MP',
    limitMb: MAX_MB,
    model: () => encodeJpeg(drawFigure(), 88),
    garment: () => encodeJpeg(drawGarment(), 88),
  },
  {
    name: 'phone photos, 12 MP',
    limitMb: MAX_MB,
    model: () => encodeJpeg(enlarged(drawFigure({ width: 750, height: 1000 }), 4, 0.13), 80),
    garment: () => encodeJpeg(enlarged(drawGarment({ width: 750, height: 1000 }), 4, 0.13), 80),
  },
  {
    name: 'files of 10 MB',
    limitMb: MAX_MB,
    model: () =>
      padded(encodeJpeg(enlarged(drawFigure({ width: 840, height: 1260 }), 2, 0.13), 95)),
    garment: () =>
      padded(encodeJpeg(enlarged(drawGarment({ width: 960, height: 1080 }), 2, 0.13), 95)),
  },
  {
    name: 'the largest JPEG, 43 MP',
    limitMb: MAX_MB_AT_THE_LIMIT,
    model: () => encodeJpeg(enlarged(drawFigure({ width: 810, height: 1080 }), 7, 0.13), 70),
    garment: () => encodeJpeg(drawGarment(), 88),
  },
]

/** The file with application segments up to 10 MB: the decoder copies them like the picture's data. */
async function padded(file: Promise<Uint8Array<ArrayBuffer>>) {
  const bytes = await file
  const segment = jpegSegment(0xef, new Uint8Array(65_000))
  const count = Math.floor((10_000_000 - bytes.length) / segment.length)
  const segments = Array.from({ length: count }, () => segment)
  return concat([bytes.subarray(0, 2), ...segments, bytes.subarray(2)])
}

function enlarged({ width, height, data }: Rgba, times: number, noise: number): Rgba {
  const random = createRandom(7)
  // The length is a prime number, so that lines of the picture differ.
  const grain = Float32Array.from({ length: 65_521 }, () => (random() - 0.5) * noise * 255)
  const result = new Uint8ClampedArray(data.length * times * times)
  for (let y = 0, at = 0; y < height * times; y++) {
    for (let x = 0; x < width * times; x++, at += 4) {
      const from = (Math.floor(y / times) * width + Math.floor(x / times)) * 4
      for (let c = 0; c < 3; c++) result[at + c] = data[from + c]! + grain[(at + c) % grain.length]!
      result[at + 3] = 255
    }
  }
  return { width: width * times, height: height * times, data: result }
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** What one composition adds to the process at most, garbage included, in bytes; 0 on systems without /proc. */
interface Peaks {
  /** While the pictures are decoded, with them. */
  decoding: number
  /** The decoded pictures. */
  pictures: number
  /** Later, beside them. */
  composing: number
}

type Images = Parameters<typeof dress>[1]

/** The memory of one composition. */
async function memoryOf(images: Images): Promise<Peaks> {
  const { codecs, perceiver } = nodeTools
  const peaks = { decoding: 0, pictures: 0, composing: 0 }
  collectGarbage()
  let before = startOfPeak()
  const tools: Tools = {
    // The pictures are decoded when the models are asked for.
    perceiver() {
      peaks.decoding = Math.max(0, peakMemory() - before)
      collectGarbage()
      before = startOfPeak()
      return perceiver()
    },
    codecs: {
      ...codecs,
      decoderForJob() {
        const decoder = codecs.decoderForJob()
        return {
          async decode(...file) {
            const picture = await decoder.decode(...file)
            peaks.pictures += picture.data.byteLength
            return picture
          },
        }
      },
    },
  }
  await dress(tools, images)
  peaks.composing = Math.max(0, peakMemory() - before)
  return peaks
}

/** The CPU time of one composition, and how long other work of the thread had to wait at most, ms. */
async function timeOf(images: Images) {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  const start = process.threadCpuUsage()
  await dress(nodeTools, images)
  const { user, system } = process.threadCpuUsage(start)
  delays.disable()
  return { cpuMs: (user + system) / 1_000, longestMs: delays.max / 1e6 }
}

/** Resets the peak of the process's memory. @returns the memory in use now in bytes */
function startOfPeak(): number {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    return Infinity
  }
  return peakMemory()
}

/** The peak of the process's memory in bytes; 0 on systems without /proc. */
function peakMemory(): number {
  try {
    const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    return Number(kilobytes) * 1024
  } catch {
    return 0
  }
}

/**
 * Composes the first `pairs` pairs, each three times. `missed` names the limits that were exceeded.
 * @throws Error when a pair cannot be composed
 */
export async function measureCompositor(pairs: number) {
  const rows: Record<string, Record<string, number>> = {}
  const missed: string[] = []
  for (const { name, limitMb, ...draw } of PAIRS.slice(0, pairs)) {
    const [model, garment] = [await draw.model(), await draw.garment()]
    const images: Images = {
      model: { bytes: model, format: 'jpeg' },
      garment: { bytes: garment, format: 'jpeg' },
    }
    const first = await timeOf(images)
    const later = await timeOf(images)
    const peaks = await memoryOf(images)
    const perceiver = await nodeTools.perceiver()
    await perceiver.perceive(drawFigure({ width: 200, height: 300 }))
    const models = perceiver.usage().heapBytes
    const files = model.length + garment.length
    const sum = models + files + Math.max(peaks.decoding, peaks.pictures + peaks.composing)
    rows[name] = {
      'files MB': round(files),
      'models MB': round(models),
      'decoding MB': round(peaks.decoding),
      'pictures MB': round(peaks.pictures),
      'composing MB': round(peaks.composing),
      'peak sum MB': round(sum),
      'first ms': Math.round(first.cpuMs),
      'later ms': Math.round(later.cpuMs),
      'longest stretch ms': Math.round(later.longestMs),
    }
    if (sum > limitMb * MB) missed.push(`${name}: ${round(sum)} MB of ${limitMb}`)
    const cpuMs = Math.max(first.cpuMs, later.cpuMs)
    if (cpuMs > MAX_CPU_MS) missed.push(`${name}: ${Math.round(cpuMs)} ms of ${MAX_CPU_MS}`)
  }
  return { ...rows, missed }
}

const round = (bytes: number) => Math.round((bytes / MB) * 10) / 10
