import { describe, expect, it, vi } from 'vitest'
import { followRedirects, RedirectError } from '../../src/platform/net/follow-redirects.ts'
import { fakeProvider } from '../support/provider.ts'

const network = fakeProvider()
const START = 'https://cdn.test/a.png'

const redirectTo = (location: string, status = 302, body: BodyInit | null = null) =>
  new Response(body, { status, headers: { location } })

const follow = (checkUrl: (url: string) => void = () => {}, maxRedirects = 3) =>
  followRedirects(START, {
    maxRedirects,
    signal: AbortSignal.timeout(10_000),
    headers: { accept: 'image/png' },
    checkUrl,
  })

describe('followRedirects', () => {
  it('returns the response when there is no redirect', async () => {
    network.on('GET', START, new Response('picture'))
    expect(await (await follow()).text()).toBe('picture')
    expect(network.seen[0]).toMatchObject({
      redirect: 'manual',
      headers: { accept: 'image/png' },
      signal: expect.any(AbortSignal),
    })
  })

  it.each([301, 302, 303, 307, 308])('follows a %d, relative or absolute', async (status) => {
    network
      .on('GET', START, redirectTo('/b.png', status))
      .on('GET', 'https://cdn.test/b.png', redirectTo('https://other.test/c.png', status))
      .on('GET', 'https://other.test/c.png', new Response('picture'))
    expect(await (await follow()).text()).toBe('picture')
  })

  it('checks every hop before it is requested', async () => {
    network.on('GET', START, redirectTo('http://10.0.0.1/secret'))
    const checked: string[] = []
    const checkUrl = (url: string) => {
      checked.push(url)
      if (!url.startsWith('https:')) throw new Error('rejected')
    }
    await expect(follow(checkUrl)).rejects.toThrow('rejected')
    expect(checked).toEqual([START, 'http://10.0.0.1/secret'])
  })

  it('requests nothing when the first URL is rejected', async () => {
    const checkUrl = () => {
      throw new Error('rejected')
    }
    await expect(follow(checkUrl)).rejects.toThrow('rejected')
    expect(network.seen).toEqual([])
  })

  it('stops after the allowed number of redirects', async () => {
    for (let hop = 0; hop < 2; hop++) network.on('GET', START, redirectTo(START))
    await expect(follow(undefined, 1)).rejects.toThrow(new RedirectError('more than 1 redirects'))
  })

  it('rejects a Location that is not a URL', async () => {
    network.on('GET', START, redirectTo('https://:80:80/'))
    await expect(follow()).rejects.toThrow(RedirectError)
  })

  it('cancels the bodies of redirects', async () => {
    const cancel = vi.fn<() => void>()
    network
      .on('GET', START, redirectTo('/b.png', 302, new ReadableStream({ cancel })))
      .on('GET', 'https://cdn.test/b.png', new Response('picture'))
    await follow()
    expect(cancel).toHaveBeenCalledOnce()
  })

  it.each([
    ['an error', new Response('', { status: 404 })],
    ['a redirect without a Location', new Response(null, { status: 302 })],
    ['300', redirectTo('/b.png', 300)],
  ])('returns %s to the caller', async (_, response) => {
    network.on('GET', START, response)
    expect(await follow()).toBe(response)
  })
})
