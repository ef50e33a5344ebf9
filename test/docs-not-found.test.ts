// Addresses below /docs that no page has. The pages themselves are static assets: test/browser/docs.
import { expect, it } from 'vitest'
import { request } from './support/client.ts'

it.each(['/docs/nope', '/docs/errors/nope', '/docs/nope.md'])(
  'returns an HTML page with status 404: %s',
  async (path) => {
    const response = await request(path)
    expect(response.status).toBe(404)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(await response.text()).toContain('<h1>Page not found</h1>')
  },
)
