// Minimal pictures: complete files without pixels.
import { concat, jpegFile, pngChunk } from '@try-on/image-files/samples'
import type { CheckedImage, EngineInput } from '../../src/engines/engine.ts'
import type { ImageFormat } from '../../src/domain/image.ts'

export function png(width = 3, height = 4): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(13)
  const view = new DataView(header.buffer)
  view.setUint32(0, width)
  view.setUint32(4, height)
  header[8] = 8 // bits per sample, grey
  const none = new Uint8Array(0)
  const signature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
  return concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', none),
    pngChunk('IEND', none),
  ])
}

export const jpeg = (width = 3, height = 4): Uint8Array<ArrayBuffer> =>
  jpegFile({ width, height, sampling: [0x11, 0x11, 0x11], scans: [] })

export const checkedImage = (
  name: string,
  bytes: Uint8Array<ArrayBuffer> = jpeg(),
  format: ImageFormat = 'jpeg',
): CheckedImage => ({
  bytes,
  format,
  url: async () => `https://ours.example/${name}?signature=s1gnature`,
})

export const engineInput = (change: Partial<EngineInput> = {}): EngineInput => ({
  jobId: 'job_1',
  organisationId: 'org_1',
  isPaying: false,
  model: checkedImage('model'),
  garment: checkedImage('garment'),
  ...change,
})
