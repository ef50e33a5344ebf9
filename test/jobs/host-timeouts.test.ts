// Alone: it replaces timers, which messages of other files would set.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fetchImage } from '../../src/jobs/processing/fetch-image.ts'
import { HostTimeouts } from '../../src/jobs/processing/host-timeouts.ts'
import { IMAGE_TIMEOUT_MS } from '../../src/domain/limits.ts'
import { png } from '../support/picture.ts'
import { drip, fakeUpstream, hang } from '../support/upstream.ts'

const upstream = fakeUpstream()
afterEach(() => void vi.useRealTimers())

const POLICY = { allowPrivate: false, ownHosts: [] }
const download = (path: string, organisationId: string) =>
  fetchImage('model', `https://cdn.test/${path}`, POLICY, { organisationId })

describe('HostTimeouts', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))

  it('blocks a host after three timeouts in a minute, for a minute and for one organisation', () => {
    const timeouts = new HostTimeouts()
    const isBlocked = (organisationId = 'org_1', host = 'cdn.test') =>
      timeouts.isBlocked(organisationId, host)
    timeouts.record('org_1', 'cdn.test')
    vi.setSystemTime(Date.now() + 60_000)
    timeouts.record('org_1', 'cdn.test')
    timeouts.record('org_1', 'cdn.test')
    expect(isBlocked()).toBe(false) // the first timeout is too old
    timeouts.record('org_1', 'cdn.test')
    expect(isBlocked()).toBe(true)
    expect([isBlocked('org_2'), isBlocked('org_1', 'other.test')]).toEqual([false, false])
    vi.setSystemTime(Date.now() + 59_999)
    expect(isBlocked()).toBe(true)
    vi.setSystemTime(Date.now() + 1)
    expect(isBlocked()).toBe(false)
  })

  it('evicts the oldest of more than a thousand hosts', () => {
    const timeouts = new HostTimeouts()
    for (let n = 0; n < 3; n++) timeouts.record('org_1', 'cdn.test')
    for (let n = 0; n < 999; n++) timeouts.record('org_1', `h${n}.test`)
    expect(timeouts.isBlocked('org_1', 'cdn.test')).toBe(true)
    timeouts.record('org_2', 'cdn.test')
    expect(timeouts.isBlocked('org_1', 'cdn.test')).toBe(false)
  })
})

describe('fetchImage', () => {
  /** The time limit of a download, as time that passes at once. */
  const fakeTimers = () =>
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'performance'] })

  it('fails immediately for a host that timed out three times', async () => {
    upstream
      .on('https://cdn.test/hang', hang)
      .on('https://cdn.test/drip', drip)
      .on('https://cdn.test/fine', () => new Response(png()))
    fakeTimers()
    const failed = ['hang', 'hang', 'drip'].map((path) =>
      expect(download(path, 'org_1')).rejects.toMatchObject({ code: 'model_image_unreachable' }),
    )
    await vi.advanceTimersByTimeAsync(IMAGE_TIMEOUT_MS)
    await Promise.all(failed)
    await expect(download('fine', 'org_1')).rejects.toMatchObject({
      code: 'model_image_unreachable',
      message: 'cdn.test has timed out repeatedly',
    })
    expect(upstream.seen('https://cdn.test/fine')).toEqual([])
    expect(await download('fine', 'org_2')).toMatchObject({ format: 'png' })
  })

  it('does not count the wait for memory against the time limit', async () => {
    upstream.on('https://cdn.test/fine', () => new Response(png()))
    fakeTimers()
    const beforeBody = async () => void (await vi.advanceTimersByTimeAsync(IMAGE_TIMEOUT_MS + 500))
    const options = { organisationId: 'org_3', beforeBody }
    const image = await fetchImage('model', 'https://cdn.test/fine', POLICY, options)
    expect(image).toMatchObject({ format: 'png' })
  })

  it('cancels the body when there is no memory', async () => {
    const cancel = vi.fn<() => void>()
    upstream.on('https://cdn.test/fine', () => new Response(new ReadableStream({ cancel })))
    const beforeBody = () => Promise.reject(new Error('no memory'))
    const options = { organisationId: 'org_3', beforeBody }
    const image = fetchImage('model', 'https://cdn.test/fine', POLICY, options)
    await expect(image).rejects.toThrow('no memory')
    expect(cancel).toHaveBeenCalledOnce()
  })
})
