// Small valid files of every kind that the compositor reads, deterministic for a seed.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { deflateSync } from 'node:zlib'
import loadJpegEncoder from '@jsquash/jpeg/codec/enc/mozjpeg_enc.js'
import loadWebpEncoder from '@jsquash/webp/codec/enc/webp_enc.js'
import { defaultOptions as JPEG_OPTIONS } from '@jsquash/jpeg/meta.js'
import { defaultOptions as WEBP_OPTIONS } from '@jsquash/webp/meta.js'
import {
  jpegFile,
  jpegScan,
  jpegSegment,
  pngChunk,
  concat,
  ANIMATION,
  canvasChunk,
  frameChunk,
  losslessChunk,
  losslessWithCodeSets,
  riffChunk,
  webpFile,
} from '@try-on/image-files/samples'
import type { ImageFormat } from '../../src/domain/image.ts'
import { imageDataBytes } from '@try-on/image-files'

type Random = () => number
type Corpus = Record<ImageFormat, Uint8Array[]>

const SIZE = { width: 52, height: 38 }

export async function createCorpus(random: Random): Promise<Corpus> {
  return {
    jpeg: await jpegs(random),
    png: pngs(random),
    webp: await webps(random),
  }
}

/** Soft shapes with noise, which use every part of a codec. */
function picture(random: Random, alpha: boolean): Uint8ClampedArray {
  const data = new Uint8ClampedArray(SIZE.width * SIZE.height * 4)
  for (let i = 0; i < data.length; i += 4) {
    const [x, y] = [(i / 4) % SIZE.width, Math.floor(i / 4 / SIZE.width)]
    for (let c = 0; c < 3; c++) data[i + c] = 128 + 90 * Math.sin((x * (c + 1) + y) / 9)
    data[i] = data[i]! + random() * 30
    data[i + 3] = alpha ? 255 * Math.abs(Math.sin(x / 20)) : 255
  }
  return data
}

const EXIF = jpegSegment(
  0xe1,
  Buffer.from(
    'Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0',
    'latin1',
  ),
)

async function jpegs(random: Random): Promise<Uint8Array[]> {
  const files: Uint8Array[] = []
  for (const change of [
    { progressive: false, baseline: true },
    { progressive: false, baseline: true, auto_subsample: false, chroma_subsample: 1 },
    { progressive: true },
    { progressive: true, auto_subsample: false, chroma_subsample: 1 },
    { progressive: false, color_space: 1 },
    { progressive: true, color_space: 1 },
  ]) {
    const encoder = await loadJpegEncoder(instantiate('@jsquash/jpeg/codec/enc/mozjpeg_enc.wasm'))
    const options = { ...JPEG_OPTIONS, quality: 80, ...change }
    files.push(
      Uint8Array.from(encoder.encode(picture(random, false), SIZE.width, SIZE.height, options)),
    )
  }
  const first = files[0]!
  files.push(concat([first.subarray(0, 2), EXIF, first.subarray(2)]))
  const colour = [0x22, 0x11, 0x11]
  const separate = [1, 2, 3].map((id) => jpegScan([id], [0, 63], new Uint8Array(200)))
  files.push(jpegFile({ ...SIZE, sampling: colour, scans: separate }))
  const restarts = Uint8Array.from(
    { length: 90 },
    (_, i) => [0, 0xff, 0xd0 + (((i - 2) / 3) % 8)][i % 3]!,
  )
  const everyBlock = [jpegSegment(0xdd, [0, 1])]
  files.push(jpegFile({ ...SIZE, extra: everyBlock, scans: [jpegScan([1], [0, 63], restarts)] }))
  return files
}

const KINDS = [
  [0, 1],
  [0, 2],
  [0, 4],
  [0, 8],
  [0, 16],
  [2, 8],
  [2, 16],
  [3, 1],
  [3, 2],
  [3, 4],
  [3, 8],
  [4, 8],
  [4, 16],
  [6, 8],
  [6, 16],
] as const

function pngs(random: Random): Uint8Array[] {
  const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
  return KINDS.flatMap(([colourType, depth]) =>
    [false, true].map((interlaced) => {
      const header = { format: 'png' as const, ...SIZE, depth, colourType, interlaced }
      const body = new Uint8Array(13)
      const view = new DataView(body.buffer)
      view.setUint32(0, SIZE.width)
      view.setUint32(4, SIZE.height)
      body.set([depth, colourType, 0, 0, interlaced ? 1 : 0], 8)
      // All bytes are 0 to 4, so that every line starts with a valid filter.
      const lines = Uint8Array.from({ length: imageDataBytes(header) }, () => random() * 5)
      const palette = Uint8Array.from({ length: 3 * 2 ** Math.min(depth, 8) }, () => random() * 256)
      return concat([
        signature,
        pngChunk('IHDR', body),
        pngChunk('tEXt', Buffer.from('Title\0a picture', 'latin1')),
        ...(colourType === 3
          ? [pngChunk('PLTE', palette), pngChunk('tRNS', Uint8Array.of(0, 128))]
          : []),
        ...(colourType === 2 ? [pngChunk('tRNS', Uint8Array.of(0, 1, 0, 2, 0, 3))] : []),
        pngChunk('IDAT', deflateSync(lines)),
        pngChunk('IEND', new Uint8Array(0)),
      ])
    }),
  )
}

async function webps(random: Random): Promise<Uint8Array[]> {
  const files: Uint8Array[] = []
  for (const [alpha, change] of [
    [false, { quality: 60 }],
    [false, { quality: 20, method: 0, partitions: 3 }],
    [true, { quality: 60 }],
    [true, { quality: 60, alpha_compression: 0 }],
    [false, { lossless: 1 }],
    [true, { lossless: 1, method: 6 }],
  ] as const) {
    const encoder = await loadWebpEncoder(instantiate('@jsquash/webp/codec/enc/webp_enc.wasm'))
    const options = { ...WEBP_OPTIONS, ...change }
    const file = encoder.encode(picture(random, alpha), SIZE.width, SIZE.height, options)
    if (!file) throw new Error('the WebP encoder failed')
    files.push(Uint8Array.from(file))
  }
  const profile = riffChunk('ICCP', new Uint8Array(301))
  for (const file of files.slice(0, 6)) {
    const image = file.subarray(file[15] === 0x58 ? 30 : 12)
    const frames = [frameChunk(SIZE, image), frameChunk(SIZE, image)]
    files.push(
      webpFile(canvasChunk(ANIMATION, SIZE), riffChunk('ANIM', new Uint8Array(6)), ...frames),
    )
  }
  files.push(webpFile(canvasChunk(0, SIZE), profile, losslessChunk(SIZE)))
  files.push(webpFile(losslessWithCodeSets(SIZE, 100)))
  return files
}

const resolve = createRequire(import.meta.url).resolve

function instantiate(path: string): CodecOptions {
  const module = new WebAssembly.Module(readFileSync(resolve(path)))
  return {
    noInitialRun: true,
    printErr: () => undefined,
    instantiateWasm(imports, ready) {
      const instance = new WebAssembly.Instance(module, imports)
      ready(instance)
      return instance.exports
    },
  }
}
