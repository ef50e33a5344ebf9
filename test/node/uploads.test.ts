// Uploads whose clients disconnect. Only a real connection can be closed.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ROOT } from '../../scripts/wrangler.ts'
import { startService } from './support/service.ts'
import type { Service } from './support/service.ts'

let service: Service
let key: string

before(async () => {
  service = await startService()
  key = (await service.newOrganisation()).api_keys.test
})
after(() => service.close())

/** Sends the first bytes of an upload. */
function startUpload(): Socket {
  const { hostname, port, host } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write(
    `POST /v1/uploads HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Length: 100000\r\n\r\nhello',
  )
  return socket
}

it('accepts an upload after others have disconnected', async () => {
  const sockets = [startUpload(), startUpload(), startUpload()]
  // The service reads the three bodies in this time. Each of them uses one of its three slots.
  await wait(1_500)
  for (const socket of sockets) socket.destroy()
  // The response would be 429 if the slots were not free within 20 seconds.
  const response = await fetch(`${service.url}/v1/uploads`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}` },
    body: readFileSync(join(ROOT, 'samples/model.jpg')),
  })
  assert.equal(response.status, 201)
})
