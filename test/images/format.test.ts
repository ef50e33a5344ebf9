import { describe, expect, it } from 'vitest'
import { dimensions, recognise } from '../../src/images/format.ts'
import garment from '../../samples/garment.png'
import model from '../../samples/model.jpg'

const text = (value: string) => Array.from(value, (char) => char.charCodeAt(0))
const webp = (kind: string, ...body: number[]) =>
  new Uint8Array([
    ...text('RIFF'),
    0,
    0,
    0,
    0,
    ...text('WEBP'),
    ...text(kind),
    0,
    0,
    0,
    0,
    ...body,
    ...Array<number>(20).fill(0),
  ])

describe('recognising pictures', () => {
  it('goes by the first bytes', () => {
    expect(recognise(new Uint8Array(model))).toBe('jpeg')
    expect(recognise(new Uint8Array(garment))).toBe('png')
    expect(recognise(webp('VP8 '))).toBe('webp')
    for (const other of ['GIF89a', 'BM', '<svg', 'RIFF....AVI ', '', '\u00ff\u00d8']) {
      expect(recognise(new Uint8Array(text(other)))).toBeNull()
    }
  })
})

describe('reading dimensions', () => {
  it('works for every kind of file', () => {
    expect(dimensions(new Uint8Array(model), 'jpeg')).toEqual({ width: 900, height: 1350 })
    expect(dimensions(new Uint8Array(garment), 'png')).toMatchObject({ width: expect.any(Number) })
    const lossy = webp('VP8 ', 0, 0, 0, 0x9d, 0x01, 0x2a, 0x20, 0x03, 0x58, 0x02)
    expect(dimensions(lossy, 'webp')).toEqual({ width: 800, height: 600 })
    const lossless = webp('VP8L', 0x2f, 0x1f, 0xc3, 0x95, 0x00)
    expect(dimensions(lossless, 'webp')).toEqual({ width: 800, height: 600 })
    const extended = webp('VP8X', 0, 0, 0, 0, 0x1f, 0x03, 0, 0x57, 0x02, 0)
    expect(dimensions(extended, 'webp')).toEqual({ width: 800, height: 600 })
  })

  it('gives nothing for headers that are cut short or contradict themselves', () => {
    for (const length of [3, 4, 10, 20, 100]) {
      expect(dimensions(new Uint8Array(model.slice(0, length)), 'jpeg')).toBeNull()
    }
    expect(dimensions(new Uint8Array(garment.slice(0, 24)), 'png')).toBeNull()
    expect(dimensions(webp('ALPH'), 'webp')).toBeNull()
    expect(dimensions(webp('VP8 '), 'webp')).toBeNull()
    const flat = new Uint8Array(garment.slice(0))
    flat.fill(0, 16, 20)
    expect(dimensions(flat, 'png')).toBeNull()
  })
})
