import { describe, expect, it } from 'vitest'
import { dimensions, detectFormat } from '../src/format.ts'
import garment from '../../../samples/garment.png'
import model from '../../../samples/model.jpg'
import {
  canvasChunk,
  losslessChunk,
  lossyHeaderChunk,
  riffChunk,
  webpFile,
} from '../samples/webp.ts'

const size = { width: 800, height: 600 }
const text = (value: string) => Array.from(value, (char) => char.charCodeAt(0))

describe('detectFormat', () => {
  it('uses the first bytes', () => {
    expect(detectFormat(new Uint8Array(model))).toBe('jpeg')
    expect(detectFormat(new Uint8Array(garment))).toBe('png')
    expect(detectFormat(webpFile(lossyHeaderChunk(size)))).toBe('webp')
    for (const other of ['GIF89a', 'BM', '<svg', 'RIFF....AVI ', '', '\u00ff\u00d8']) {
      expect(detectFormat(new Uint8Array(text(other)))).toBeNull()
    }
  })
})

describe('dimensions', () => {
  it('reads every format', () => {
    expect(dimensions(new Uint8Array(model), 'jpeg')).toEqual({ width: 900, height: 1200 })
    expect(dimensions(new Uint8Array(garment), 'png')).toMatchObject({ width: expect.any(Number) })
    expect(dimensions(webpFile(lossyHeaderChunk(size)), 'webp')).toEqual(size)
    expect(dimensions(webpFile(losslessChunk(size)), 'webp')).toEqual(size)
    const extended = webpFile(canvasChunk(0, size), lossyHeaderChunk(size))
    expect(dimensions(extended, 'webp')).toEqual(size)
  })

  it('returns null for truncated and contradictory headers', () => {
    for (const length of [3, 4, 10, 20, 100]) {
      expect(dimensions(new Uint8Array(model.slice(0, length)), 'jpeg')).toBeNull()
    }
    expect(dimensions(new Uint8Array(garment.slice(0, 24)), 'png')).toBeNull()
    expect(dimensions(webpFile(riffChunk('ALPH', new Uint8Array(30))), 'webp')).toBeNull()
    expect(dimensions(webpFile(riffChunk('VP8 ', new Uint8Array(30))), 'webp')).toBeNull()
    const flat = new Uint8Array(garment.slice(0))
    flat.fill(0, 16, 20)
    expect(dimensions(flat, 'png')).toBeNull()
  })
})
