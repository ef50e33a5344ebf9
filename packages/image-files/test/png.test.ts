import { describe, expect, it } from 'vitest'
import { pngChunk, concat, pngFile } from '../samples/png.ts'
import { imageDataBytes, inspectPng, MAX_PNG_CHUNKS } from '../src/png.ts'

const size = { width: 40, height: 30 }
const header = { ...size, depth: 8, colourType: 6 }
const file = (change: Partial<typeof header> = {}, extra: Uint8Array[] = []) =>
  pngFile({ ...header, ...change }, new Uint8Array(16), extra)

/** Changes a byte of the image header; bytes 24 to 28 are depth to interlace method. */
async function withByte(at: number, value: number) {
  const bytes = await file()
  bytes[at] = value
  return inspectPng(bytes)
}

describe('inspectPng', () => {
  it('reads the image header', async () => {
    expect(inspectPng(await file())).toEqual({ format: 'png', ...header, interlaced: false })
    expect(await withByte(28, 1)).toMatchObject({ interlaced: true })
  })

  it.each([
    { width: 0 },
    { height: 0 },
    { colourType: 0, depth: 3 },
    { colourType: 1, depth: 8 },
    { colourType: 2, depth: 4 },
    { colourType: 3, depth: 16 },
    { colourType: 4, depth: 1 },
    { colourType: 6, depth: 0 },
    { colourType: 7, depth: 8 },
  ])('rejects an image without area and an unknown kind of pixels: %o', async (change) => {
    expect(inspectPng(await file(change))).toHaveProperty('corrupt')
  })

  it('rejects methods that are not in the specification', async () => {
    for (const at of [26, 27]) expect(await withByte(at, 1)).toHaveProperty('corrupt')
    expect(await withByte(28, 2)).toHaveProperty('corrupt')
  })

  it('rejects a header that is missing, duplicated or not the first chunk', async () => {
    const bytes = await file()
    const again = pngChunk('IHDR', bytes.subarray(16, 29))
    expect(inspectPng(await file({}, [again]))).toHaveProperty('corrupt')
    expect(inspectPng(concat([bytes.subarray(0, 8), bytes.subarray(33)]))).toHaveProperty('corrupt')
    expect(inspectPng(bytes.subarray(0, 32))).toHaveProperty('corrupt')
    expect(inspectPng(bytes.subarray(0, 8))).toHaveProperty('corrupt')
  })

  it('stops at a chunk that runs past the end of the file', async () => {
    const bytes = await file()
    new DataView(bytes.buffer).setUint32(33, 0xffff_ffff)
    expect(inspectPng(bytes)).toMatchObject(size)
  })

  it('rejects too many chunks', async () => {
    const empty = pngChunk('tEXt', new Uint8Array(0))
    const many = (count: number) => file({}, [concat(Array<Uint8Array>(count).fill(empty))])
    expect(inspectPng(await many(MAX_PNG_CHUNKS - 3))).toMatchObject(size)
    expect(inspectPng(await many(MAX_PNG_CHUNKS))).toEqual({
      corrupt: 'more than 20000 PNG chunks',
    })
  })
})

describe('imageDataBytes', () => {
  const bytesOf = (change: object) =>
    imageDataBytes({ format: 'png', ...header, interlaced: false, ...change })

  it('counts every line with its filter byte', () => {
    expect(bytesOf({})).toBe(30 * (1 + 40 * 4))
    expect(bytesOf({ depth: 16 })).toBe(30 * (1 + 40 * 8))
    expect(bytesOf({ colourType: 3, depth: 1, width: 9 })).toBe(30 * (1 + 2))
  })

  it('counts the lines of each pass of an interlaced image', () => {
    const grey = { colourType: 0, interlaced: true }
    expect(bytesOf({ ...grey, width: 8, height: 8 })).toBe(64 + 15)
    expect(bytesOf({ ...grey, width: 1, height: 1 })).toBe(2)
    expect(bytesOf({ ...grey, width: 1, height: 9 })).toBe(9 + 9)
  })
})
