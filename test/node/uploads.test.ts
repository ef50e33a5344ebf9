// Clients that disconnect or stall. Only a real connection can be closed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ROOT } from '../../scripts/wrangler.ts'
import { startService, type StartedService } from '../../scripts/test-service.ts'

let service: StartedService

before(async () => {
  service = await startService()
})
after(() => service.close())

const newKey = async () => (await service.newOrganisation()).api_keys.test

/** Sends the first bytes of a body. */
function startRequest(path: string, headers: string[] = []): Socket {
  const { hostname, port, host, origin } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Origin: ${origin}`,
    'Content-Length: 60000',
    ...headers,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\nhello`)
  return socket
}

const startUpload = (key: string) => startRequest('/v1/uploads', [`Authorization: Bearer ${key}`])

async function upload(key: string): Promise<{ status: number; ms: number }> {
  const startedAt = performance.now()
  const { status } = await fetch(`${service.url}/v1/uploads`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
    body: readFileSync(join(ROOT, 'samples/model.jpg')),
  })
  return { status, ms: performance.now() - startedAt }
}

it('accepts an upload after others have disconnected, which are no errors of the service', async () => {
  const key = await newKey()
  const sockets = [
    startUpload(key),
    startUpload(await newKey()),
    startUpload(await newKey()),
    startRequest('/v1/tryon', [`Authorization: Bearer ${key}`]),
    startRequest('/console/sign-in', ['Content-Type: application/x-www-form-urlencoded']),
    startRequest('/console/sign-in', ['Content-Type: multipart/form-data; boundary=x']),
  ]
  // The service reads the bodies in this time. Each upload uses one of its three slots.
  await wait(1_500)
  for (const socket of sockets) socket.destroy()
  // The response would be 429 if the slots were not free within 20 seconds.
  assert.equal((await upload(key)).status, 201)
  assert.doesNotMatch(service.log(), /"level":"error"/)
})

it('receives uploads while another organisation sends bodies that do not end', async () => {
  const slow = await newKey()
  const sockets = Array.from({ length: 4 }, () => startUpload(slow))
  await wait(1_500)
  // Also the slow uploads end after 5 seconds each.
  const { status, ms } = await upload(await newKey())
  for (const socket of sockets) socket.destroy()
  assert.equal(status, 201)
  assert.ok(ms < 3_000, `${ms} ms`)
})
