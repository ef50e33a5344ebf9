// The package's own JPEG encoder, by what the library decodes.
import { describe, expect, it, vi } from 'vitest'
import { createRandom, type Rgba } from '../samples/index.ts'
import { encodeJpeg } from '../src/index.ts'
import { huffmanCodes } from '../src/jpeg/huffman-codes.ts'
import { codecs, figure } from './files.ts'

const decode = (file: Uint8Array) => codecs.decode(file, 'jpeg', 9999)

/** The mean and the largest difference of red, green and blue. */
function differences(one: Rgba, other: Rgba) {
  expect([one.width, one.height]).toEqual([other.width, other.height])
  let [sum, most] = [0, 0]
  for (let i = 0; i < one.data.length; i++) {
    const difference = Math.abs(one.data[i]! - other.data[i]!)
    sum += difference
    most = Math.max(most, difference)
  }
  return { mean: sum / ((one.data.length * 3) / 4), most }
}

function plain(width: number, height: number, colour: readonly number[]): Rgba {
  const data = Uint8ClampedArray.from({ length: width * height * 4 }, (_, i) => colour[i % 4]!)
  return { width, height, data }
}

function noise(width: number, height: number): Rgba {
  const random = createRandom(3)
  const data = Uint8ClampedArray.from({ length: width * height * 4 }, (_, i) =>
    i % 4 === 3 ? 255 : random() * 256,
  )
  return { width, height, data }
}

describe('encodeJpeg', () => {
  it('keeps colours', async () => {
    for (const colour of [
      [255, 0, 0, 255],
      [0, 255, 0, 255],
      [0, 0, 255, 255],
      [255, 255, 255, 255],
      [0, 0, 0, 255],
      [201, 134, 87, 255],
    ]) {
      const picture = plain(20, 12, colour)
      const file = await encodeJpeg(picture, 90)
      expect(differences(await decode(file), picture).most).toBeLessThanOrEqual(3)
    }
  })

  it.each([
    [1, 1],
    [7, 9],
    [8, 8],
    [17, 33],
  ])('encodes pictures of %i × %i pixels', async (width, height) => {
    const picture = figure({ width: 40, height: 60 })
    const part = plain(width, height, [0, 0, 0, 255])
    for (let y = 0; y < height; y++) {
      part.data.set(picture.data.subarray(y * 160, y * 160 + width * 4), y * width * 4)
    }
    const file = await encodeJpeg(part, 95)
    expect(differences(await decode(file), part).mean).toBeLessThan(3)
  })

  it('loses little at quality 90 and less at 100, noise included', async () => {
    const [picture, grains] = [figure(), noise(64, 64)]
    const loss = async (original: Rgba, quality: number) =>
      differences(await decode(await encodeJpeg(original, quality)), original).mean
    expect(await loss(picture, 90)).toBeLessThan(1)
    expect(await loss(grains, 100)).toBeLessThan(1)
    expect(await loss(grains, 1)).toBeGreaterThan(await loss(grains, 50))
  })

  it('pauses while it encodes', async () => {
    const pauses = vi.spyOn(globalThis, 'setTimeout')
    await encodeJpeg(plain(1_000, 1_000, [9, 9, 9, 255]), 90)
    expect(pauses.mock.calls.length).toBeGreaterThan(4)
    pauses.mockRestore()
  })
})

describe('huffmanCodes', () => {
  it('has no code of more than 16 bits, and none of ones only', () => {
    const frequencies = new Uint32Array(256)
    for (let i = 0, [one, next] = [1, 1]; i < 40; i++, [one, next] = [next, one + next]) {
      frequencies[i] = one
    }
    const { lengths, codes, counts, symbols } = huffmanCodes(frequencies)
    expect(Math.max(...lengths)).toBe(16)
    expect(symbols).toHaveLength(40)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(40)
    const used = symbols.reduce((sum, symbol) => sum + 2 ** -lengths[symbol]!, 0)
    expect(used).toBeLessThan(1)
    for (const symbol of symbols) expect(codes[symbol]! + 1).toBeLessThan(2 ** lengths[symbol]!)
  })
})
