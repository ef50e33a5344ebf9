// Server-side request forgery: URLs of private hosts in every known notation, at every input that
// takes a URL.
import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it, vi } from 'vitest'
import { fetchImage } from '../../src/jobs/processing/fetch-image.ts'
import { imageUrlProblem, urlProblem } from '../../src/platform/net/public-url.ts'
import worker from '../../src/index.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { BASE } from '../support/client.ts'
import { png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { IMAGES, newOrganisation, operator, readJob, submit } from '../support/world.ts'

const upstream = fakeUpstream()

const FORBIDDEN = {
  'internal names': [
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://shop.localhost/',
    'http://printer.local/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://wiki.intranet/',
    'http://nas.lan/',
    'http://router.home.arpa/',
    'http://mail.corp/',
    'http://intranet/',
    'http://a/',
  ],
  'IPv4, in every notation that the URL parser accepts': [
    'http://127.0.0.1/',
    'http://127.0.0.1:8080/',
    'http://127.0.0.1./',
    'http://127.1/',
    'http://127.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://0x7f.1/',
    'http://１２７.０.０.１/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://0.1.2.3/',
    'http://10.0.0.1/',
    'http://100.64.0.1/',
    'http://127.255.255.254/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.0.0.1/',
    'http://192.0.2.1/',
    'http://192.88.99.1/',
    'http://192.168.1.1/',
    'http://198.18.0.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
  ],
  IPv6: [
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[fc00::1]/',
    'http://[fd12:3456::1]/',
    'http://[fe80::1]/',
    'http://[febf::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[100::1]/',
    'http://[1::1]/',
    'http://[4000::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[5f00::1]/',
  ],
  'IPv4 inside IPv6': [
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::10.0.0.1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001::7f00:1]/',
  ],
  credentials: [
    'http://user@shop.example/',
    'http://user:secret@shop.example/',
    'http://:x@a.example/',
  ],
  'other schemes': [
    'file:///etc/passwd',
    'ftp://shop.example/model.jpg',
    'gopher://shop.example/',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
    'blob:https://shop.example/1',
    '//shop.example/model.jpg',
    'https:/shop.example/model.jpg',
    'https:shop.example',
  ],
  'characters that the URL parser would remove': [
    'http://shop.example/\tmodel.jpg',
    'http://127.0.\n0.1/',
    ' http://shop.example/',
    'http://shop.example\u0000.evil/',
  ],
  'this service itself': [
    `${BASE}/v1/tryon`,
    `${BASE}/operator/organisations`,
    `${BASE.toUpperCase().replace('HTTPS', 'https')}/outputs/a.png`,
    `${BASE}:443/`,
    `${BASE}:8443/`,
    `${BASE.replace('https', 'http')}/`,
    `${BASE}./v1/tryon`,
    `${BASE}.:8443/`,
    `${BASE}../`,
  ],
}

const ALL = Object.entries(FORBIDDEN).flatMap(([kind, urls]) => urls.map((url) => ({ kind, url })))

const OWNER = { organisationId: 'org_1' }
const POLICY = { allowPrivate: false, ownHosts: [new URL(BASE).hostname] }

const ALLOWED = [
  'https://shop.example/model.jpg',
  'http://shop.example:8080/model.jpg?size=big#top',
  'https://8.8.8.8/model.jpg',
  'https://[2606:4700:4700::1111]/model.jpg',
  'https://sub.localhost.example/model.jpg',
  'https://shop.example./model.jpg',
  `https://not-${new URL(BASE).host}/model.jpg`,
  'https://münchen.example/model.jpg',
]

describe(`a forbidden URL (${ALL.length} cases)`, () => {
  it.each(ALL)('is rejected: $kind: $url', ({ url }) => {
    expect(urlProblem(url, POLICY)).not.toBeNull()
    expect(imageUrlProblem(url, POLICY)).not.toBeNull()
  })

  it('is distinguished from an allowed URL', () => {
    for (const url of ALLOWED) expect(urlProblem(url, POLICY)).toBeNull()
  })

  const SAMPLE = ALL.filter((_, at) => at % 7 === 0).map(({ url }) => url)

  it('returns 422 as an image and as a webhook URL, in /v1 and the operator API', async () => {
    const shop = await newOrganisation()
    for (const url of SAMPLE) {
      for (const field of ['model_image_url', 'garment_image_url', 'webhook_url']) {
        const response = await shop.live.post('/v1/tryon', { ...IMAGES, [field]: url })
        expect([field, url, response.status]).toEqual([field, url, 422])
      }
    }
    const webhook = { default_webhook_url: 'http://169.254.169.254/' }
    expect((await operator.patch(`/operator/organisations/${shop.orgId}`, webhook)).status).toBe(
      422,
    )
    expect(upstream.seen()).toEqual([])
  })

  it('is not fetched after redirects', async () => {
    upstream.on('https://cdn.test/hop', () => Response.redirect('https://cdn.test/model', 302))
    // Other values are relative redirects or normalised by the parser, and lead to a public URL.
    for (const url of SAMPLE.filter((url) => /^https?:\/\/\S+$/.test(url) && URL.canParse(url))) {
      upstream.on(
        'https://cdn.test/model',
        () => new Response(null, { status: 302, headers: { Location: url } }),
      )
      for (const start of ['https://cdn.test/model', 'https://cdn.test/hop']) {
        await expect(fetchImage('model', start, POLICY, OWNER)).rejects.toMatchObject({
          code: 'model_image_unreachable',
        })
      }
    }
    expect(new Set(upstream.seen().map(({ url }) => url))).toEqual(
      new Set(['https://cdn.test/model', 'https://cdn.test/hop']),
    )
  })

  it('does not stop redirects between public hosts', async () => {
    upstream
      .on('https://cdn.test/hop', () => Response.redirect('https://other.test/model', 307))
      .on('https://other.test/model', () => new Response(png()))
    expect(await fetchImage('model', 'https://cdn.test/hop', POLICY, OWNER)).toMatchObject({
      format: 'png',
    })
  })
})

describe('a deployment with BASE_URL', () => {
  const withBaseUrl = Object.assign(
    { ...env },
    { BASE_URL: 'https://api.shop.example', DEV_MAILBOX: 'false' },
  )
  const OWN_URLS = ['https://api.shop.example/x', 'https://api.shop.example.:8443/x', `${BASE}./x`]

  it('rejects both BASE_URL and the requested host', async () => {
    const shop = await newOrganisation()
    for (const url of OWN_URLS) {
      for (const field of ['model_image_url', 'garment_image_url', 'webhook_url']) {
        const response = await worker.fetch(
          new Request(`${BASE}/v1/tryon`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${shop.keys.test}` },
            body: JSON.stringify({ ...IMAGES, [field]: url }),
          }),
          withBaseUrl,
          createExecutionContext(),
        )
        expect([field, url, response.status]).toEqual([field, url, 422])
        expect(await response.json()).toMatchObject({
          error: { message: `${field} must not point to this service itself.` },
        })
      }
    }
  })

  it('does not follow redirects to either of them', async () => {
    vi.spyOn(env.JOBS, 'send').mockRejectedValue(new Error('the queue is unavailable'))
    const shop = await newOrganisation()
    for (const url of OWN_URLS) {
      upstream
        .on(IMAGES.model_image_url, () => Response.redirect(url, 302))
        .on(IMAGES.garment_image_url, () => new Response(png()))
      const { job_id } = await submit(shop.live)
      await processJob({ env: withBaseUrl, jobId: job_id })
      expect(await readJob(shop.live, job_id)).toMatchObject({
        error_code: 'model_image_unreachable',
      })
    }
  })
})
