// Minimal pictures: a header without pixels.
import type { CheckedImage, EngineInput } from '../../src/engines/engine.ts'
import type { ImageFormat } from '../../src/domain/image.ts'

export function png(width = 3, height = 4): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(33)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  const view = new DataView(bytes.buffer)
  view.setUint32(16, width)
  view.setUint32(20, height)
  bytes[24] = 8 // bits per sample, grey
  return bytes
}

export function jpeg(width = 3, height = 4): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 0, 0, 0, 3, 0, 0, 0, 0])
  const view = new DataView(bytes.buffer)
  view.setUint16(7, height)
  view.setUint16(9, width)
  return bytes
}

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
  model: checkedImage('model'),
  garment: checkedImage('garment'),
  ...change,
})
