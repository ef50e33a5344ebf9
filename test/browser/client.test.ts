// The client package in Chromium, on a page of another origin than the service.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { ROOT } from '../../scripts/wrangler.ts'
import { openBrowser } from './support/console.ts'
import { sharedService, type NewOrganisation } from '../node/support/service.ts'

const service = sharedService()
let shop: NewOrganisation
let browser: Browser
let page: Page
let closePages: () => void

before(async () => {
  shop = await service.newOrganisation({ rate_limit_per_minute: 6 })
  const pages = await servePage()
  closePages = pages.close
  browser = await openBrowser()
  page = await browser.newPage()
  await page.goto(pages.url)
})
after(async () => {
  await browser.close()
  closePages()
})

/** Serves a page and the client as a module. */
async function servePage() {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'packages', 'client', 'src', 'index.ts')],
    bundle: true,
    format: 'esm',
    write: false,
  })
  const server = createServer((request, response) => {
    const isModule = request.url === '/client.js'
    response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html')
    response.end(isModule ? outputFiles[0]?.text : '<!doctype html><title>Shop</title>')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() }
}

/** Runs a function body in the page. It has the module and the settings of a client. */
function inPage(body: string, apiKey = shop.api_keys.test): Promise<unknown> {
  const settings = JSON.stringify({ apiKey, baseUrl: service.url, maxRetries: 0 })
  return page.evaluate(`(async () => {
    const { TryOnClient } = await import('/client.js')
    const settings = ${settings}
    const images = {
      model_image_url: 'https://shop.example/model.jpg',
      garment_image_url: 'https://shop.example/shirt.png',
    }
    try { ${body} } catch (error) {
      const { name, status, code, message, requestId, retryAfterSeconds } = error
      return { name, status, code, message, requestId, retryAfterSeconds }
    }
  })()`)
}

describe('the client in a browser', () => {
  it('runs and lists jobs with a test key', async () => {
    const result = await inPage(`
      const client = new TryOnClient(settings)
      const job = await client.tryOn.run(images)
      const ids = []
      for await (const { job_id } of client.jobs.list()) ids.push(job_id)
      return [job.status, ids.length === 1 && ids[0] === job.job_id]`)
    assert.deepEqual(result, ['completed', true])
  })

  it('rejects a live key', async () => {
    const error = await inPage('return new TryOnClient(settings)', shop.api_keys.live)
    assert.match((error as Error).message, /live API key must not be used in a browser/)
  })

  it('reads errors and their headers', async () => {
    const unauthorised = await inPage('await new TryOnClient(settings).account.get()', 'unknown')
    const { status, code, requestId } = unauthorised as Record<string, unknown>
    assert.deepEqual([status, code], [401, 'invalid_api_key'])
    assert.match(String(requestId), /^[\w-]{8,}/)
    const limited = await inPage(
      'for (let count = 0; count < 7; count++) await new TryOnClient(settings).account.get()',
    )
    const { code: limitCode, retryAfterSeconds } = limited as Record<string, unknown>
    assert.equal(limitCode, 'rate_limit_exceeded')
    assert.ok(Number(retryAfterSeconds) > 0)
  })
})
