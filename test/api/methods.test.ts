// 405 for an unsupported method, at every path of the app outside the console.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { app } from '../../src/app.ts'
import { codeOf, request } from '../support/client.ts'
import { newOrganisation } from '../support/world.ts'

const methodsByPath = Map.groupBy(
  app.routes.filter(({ method }) => method !== 'ALL'),
  ({ path }) => path,
)
const paths = [...methodsByPath].map(([path, routes]) => {
  const methods = new Set(routes.map(({ method }) => method))
  return [path, methods.has('GET') ? methods.add('HEAD') : methods] as const
})

describe('an unsupported method', () => {
  it.each(paths)('returns 405 with the methods of the path: %s', async (path, methods) => {
    const response = await request(path, {
      method: methods.has('PUT') ? 'PATCH' : 'PUT',
      headers: { Authorization: `Bearer ${env.OPERATOR_TOKEN}` },
    })
    expect(response.status).toBe(405)
    expect(await codeOf(response)).toBe('method_not_allowed')
    expect(new Set(response.headers.get('Allow')?.split(', '))).toEqual(methods)
  })

  it('is tested for the paths of every HTTP module', () => {
    const modules = new Set(paths.map(([path]) => path.split('/')[1]))
    const texts = ['llms.txt', 'llms-full.txt', 'robots.txt', 'sitemap.xml', '.well-known']
    const documents = ['openapi.json', 'openapi.yaml', 'docs', ...texts]
    const all = [
      '',
      'health',
      'v1',
      'operator',
      'payments',
      ...documents,
      'outputs',
      'inputs',
      'uploads',
    ]
    expect([...modules].toSorted()).toEqual(all.toSorted())
  })
})

it('links errors to the description of their code', async () => {
  const shop = await newOrganisation()
  for (const [path, code] of [
    ['/v1/jobs/job_1', 'job_not_found'],
    ['/v1/nope', 'not_found'],
  ] as const) {
    const { headers } = await shop.live.get(path)
    expect(headers.get('Link')).toBe(`</docs/errors#${code}>; rel="help"`)
  }
  expect((await request('/operator/organisations')).headers.get('Link')).toBeNull()
})
