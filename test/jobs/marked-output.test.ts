// Every output is marked as synthetic, and has no metadata of the inputs or of a provider.
import { crc32 } from 'node:zlib'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { createCodecs } from '@try-on/compositor'
import { workerModules } from '@try-on/compositor/worker'
import { jpegSegments, pngChunks, riffChunks, type ImageFormat } from '@try-on/image-files'
import { concat, jpegSegment, pngChunk, riffChunk } from '@try-on/image-files/samples'
import garmentFile from '../../samples/garment.png'
import modelFile from '../../samples/model.jpg'
import { BASE, request } from '../support/client.ts'
import { scripted, useEngines } from '../support/fake-engines.ts'
import { fakePictures, MODEL, newJob, PICTURES } from '../support/live-job.ts'
import { finished, ledgerOf, newOrganisation, submit } from '../support/world.ts'

const upstream = fakePictures()
const codecs = createCodecs(workerModules)

const SECRET = 'GPS 48.85, 2.35'
const ascii = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes)

const GPS = [
  jpegSegment(0xe1, ascii(`Exif\0\0MM\0*\0\0\0\x08\0\0${SECRET}`)),
  jpegSegment(0xe1, ascii(`http://ns.adobe.com/xap/1.0/\0${SECRET}`)),
  jpegSegment(0xed, ascii(`Photoshop 3.0\0${SECRET}`)),
]
const jpegWithGps = concat([
  new Uint8Array(modelFile, 0, 2),
  ...GPS,
  new Uint8Array(modelFile).subarray(2),
])

/** 12 × 8 pixels with alpha, made with libwebp. */
const WEBP = Uint8Array.fromBase64(
  'UklGRqAAAABXRUJQVlA4WAoAAAAQAAAACwAABwAAQUxQSBQAAAABD/DA/4iIIBBIEPK32W6FiP5HDlZQOCBmAAAAMAIAnQEqDAAIAAIANCWw' +
    'AnQwRgFHH5zqGJwA/ravfjXS5onCudkEfdEGlIogltJY9iBPRQ/dJqLeYQPmJ03uEUE+mf/XYQS8/rW5f99NL8mOQ2svN3/+RXn38x5/yC/P' +
    'MW9xjIAA',
)

/** Real pictures with metadata, as a provider may return them. */
const PROVIDED: Record<ImageFormat, () => Uint8Array<ArrayBuffer>> = {
  jpeg: () => concat([jpegWithGps, ascii(SECRET)]),
  png: () => {
    const file = new Uint8Array(garmentFile)
    const text = ['tEXt', 'eXIf', 'caBX'].map((type) =>
      pngChunk(type, ascii(`parameters\0${SECRET}`)),
    )
    return concat([file.subarray(0, 33), ...text, file.subarray(33)])
  },
  webp: () => {
    const file = concat([
      WEBP,
      riffChunk('EXIF', ascii(SECRET)),
      riffChunk('XMP ', ascii(`<x:xmpmeta>${SECRET}`)),
    ])
    new DataView(file.buffer).setUint32(4, file.length - 8, true)
    return file
  },
}

/** The XMP packets of a file, read as a metadata tool does. */
function xmpOf(file: Uint8Array, format: ImageFormat): string[] {
  const found: string[] = []
  const add = (body: Uint8Array, prefix: string) => {
    const text = new TextDecoder().decode(body)
    if (text.startsWith(prefix)) found.push(text.slice(prefix.length))
  }
  if (format === 'jpeg') {
    for (const { marker, body } of jpegSegments(file)) {
      if (marker === 0xe1) add(body, 'http://ns.adobe.com/xap/1.0/\0')
    }
  } else if (format === 'png') {
    for (const { type, body } of pngChunks(file)) {
      if (type === 'iTXt') add(body, 'XML:com.adobe.xmp\0\0\0\0\0')
    }
  } else {
    for (const { type, body } of riffChunks(file)) if (type === 'XMP ') add(body, '')
  }
  return found
}

const markOf = (xmp: string) => ({
  source: /DigitalSourceType="http:\/\/cv\.iptc\.org\/newscodes\/digitalsourcetype\/(\w+)"/.exec(
    xmp,
  )?.[1],
  engine: /xmp:CreatorTool="try-on\/([\w-]+)"/.exec(xmp)?.[1],
  jobId: /dc:identifier="(\w+)"/.exec(xmp)?.[1],
})

const pixelsOf = async (file: Uint8Array, format: ImageFormat) => {
  const { width, height, data } = await codecs.decode(file, format, 9999)
  return { width, height, checksum: crc32(data) }
}

const load = async (url: unknown) => {
  const response = await request(String(url).replace(BASE, ''))
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) }
}

describe('an output', () => {
  it.each(['jpeg', 'png', 'webp'] as const)('of a provider is marked, as %s', async (format) => {
    const bytes = PROVIDED[format]()
    const before = await pixelsOf(bytes, format)
    const image = { bytes: bytes.slice(), format }
    useEngines(scripted('fashn', { start: [{ done: true, image }] }))
    const { job, read } = await newJob()
    await job.run()

    const { output_url: url } = await read()
    const { response, bytes: output } = await load(url)
    expect(response.headers.get('Content-Type')).toBe(`image/${format}`)
    expect(response.headers.get('Content-Length')).toBe(String(output.length))
    const packets = xmpOf(output, format)
    expect(packets.map(markOf)).toEqual([
      { source: 'trainedAlgorithmicMedia', engine: 'fashn', jobId: job.id },
    ])
    expect(textOf(output)).not.toContain(SECRET)
    expect(await pixelsOf(output, format)).toEqual(before)
  })

  it('of the compositor is marked as a composite, without the metadata of the inputs', async () => {
    upstream
      .on(MODEL, () => new Response(jpegWithGps))
      .on(PICTURES.garment_image_url, () => new Response(PROVIDED.png()))
    const { job, read } = await newJob()
    await job.run()
    const { bytes } = await load((await read())['output_url'])
    expect(xmpOf(bytes, 'jpeg').map(markOf)).toEqual([
      { source: 'compositeSynthetic', engine: 'compositor', jobId: job.id },
    ])
    expect(textOf(bytes)).not.toContain(SECRET)
    expect(textOf(bytes)).not.toContain('Exif')
  })

  it('of test mode is marked', async () => {
    const shop = await newOrganisation()
    const { job_id: jobId } = await submit(shop.test)
    const { bytes } = await load((await finished(shop.test, jobId))['output_url'])
    expect(xmpOf(bytes, 'png').map(markOf)).toEqual([
      { source: 'compositeSynthetic', engine: 'placeholder', jobId },
    ])
  })

  it('is stored by a second try after the first one failed', async () => {
    useEngines(
      scripted('fashn', { start: [{ done: true, image: { bytes: WEBP, format: 'webp' } }] }),
    )
    const { job, read } = await newJob()
    const put = vi.spyOn(env.IMAGES, 'put').mockRejectedValueOnce(new Error('R2 is unavailable'))
    await job.run()
    expect(put).toHaveBeenCalledTimes(2)
    const { bytes } = await load((await read())['output_url'])
    expect(xmpOf(bytes, 'webp')).toHaveLength(1)
  })

  it.each([
    ['truncated', jpegWithGps.slice(0, -1_000)],
    [
      'with a length beyond its end',
      concat([jpegWithGps.subarray(0, 2), Uint8Array.of(0xff, 0xe1, 0xff, 0xff)]),
    ],
  ])('that is %s is not delivered and costs nothing', async (_, bytes) => {
    const image = { bytes, format: 'jpeg' } as const
    useEngines(scripted('fashn', { start: [{ done: true, image }] }))
    const { job, read, shop } = await newJob()
    await job.run()
    expect(await read()).toMatchObject({ status: 'failed', error_code: 'generation_failed' })
    expect(await ledgerOf(shop)).toMatchObject({ reserved: 0, consumed: 0 })
    expect((await env.IMAGES.list({ prefix: `outputs/${job.id}` })).objects).toEqual([])
  })
})
