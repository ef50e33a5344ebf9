import { describe, expect, it } from 'vitest'
import {
  jpegFile,
  jpegScan,
  ANIMATION,
  canvasChunk,
  frameChunk,
  losslessChunk,
  webpFile,
} from '@try-on/image-files/samples'
import { checkImage } from '../../src/jobs/processing/fetch-image.ts'

const size = { width: 100, height: 100 }

// The check runs before every engine, paid ones included.
describe('checkImage', () => {
  it('accepts valid images of any size', () => {
    const large = { width: 16_000, height: 16_000 }
    expect(checkImage('model', jpegFile(large))).toMatchObject({ format: 'jpeg' })
    expect(checkImage('model', webpFile(losslessChunk(large)))).toMatchObject({ format: 'webp' })
  })

  it('rejects a frame that exceeds its canvas', () => {
    const huge = { width: 12_000, height: 12_000 }
    const bomb = webpFile(canvasChunk(ANIMATION, size), frameChunk(huge, losslessChunk(huge)))
    expect(() => checkImage('garment', Uint8Array.from(bomb))).toThrow(
      expect.objectContaining({ code: 'garment_image_corrupt' }),
    )
  })

  it('rejects a JPEG with too many scans', () => {
    const scans = Array<Uint8Array>(101).fill(jpegScan([1], [1, 63]))
    expect(() => checkImage('model', jpegFile({ ...size, coding: 0xc2, scans }))).toThrow(
      expect.objectContaining({ code: 'model_image_corrupt' }),
    )
  })

  it('rejects other formats', () => {
    expect(() =>
      checkImage('model', Uint8Array.from(new TextEncoder().encode('GIF89a..'))),
    ).toThrow(expect.objectContaining({ code: 'model_image_unsupported_format' }))
  })
})
