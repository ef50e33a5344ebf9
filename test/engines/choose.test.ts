import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { enginesOf } from '../../src/engines/choose.ts'
import { SECRET, vertexSettings } from '../support/engines.ts'

const withVars = (vars: Record<string, unknown>): Env => ({ ...env, ...vars })
const KEYS = { FASHN_API_KEY: SECRET, FAL_KEY: SECRET, REPLICATE_API_TOKEN: SECRET }
const namesOf = (vars: Record<string, unknown>) =>
  enginesOf(withVars(vars)).inOrder.map(({ name }) => name)

describe('GENERATION_ENGINE', () => {
  it('needs nothing for the compositor, which is the default', () => {
    expect(namesOf({})).toEqual(['compositor'])
    expect(namesOf({ GENERATION_ENGINE: undefined })).toEqual(['compositor'])
  })

  it('gives the engines in its order, each once', () => {
    const GENERATION_ENGINE = 'fal, fashn,replicate , compositor,fal'
    expect(namesOf({ ...KEYS, GENERATION_ENGINE })).toEqual([
      'fal',
      'fashn',
      'replicate',
      'compositor',
    ])
  })

  it('takes workers-ai with the AI binding, and vertex with its account', () => {
    const { VERTEX_PROJECT, VERTEX_SERVICE_ACCOUNT } = vertexSettings()
    const vars = {
      GENERATION_ENGINE: 'workers-ai,vertex',
      AI: { run: async () => ({}) },
      VERTEX_PROJECT,
      VERTEX_SERVICE_ACCOUNT: JSON.stringify(VERTEX_SERVICE_ACCOUNT),
    }
    expect(namesOf(vars)).toEqual(['workers-ai', 'vertex'])
  })

  it.each([
    ['an unknown engine', { GENERATION_ENGINE: 'fashion' }, /GENERATION_ENGINE names "fashion"/],
    ['an engine of Object’s', { GENERATION_ENGINE: 'toString' }, /names "toString"/],
    ['an empty place', { ...KEYS, GENERATION_ENGINE: 'fashn,' }, /GENERATION_ENGINE names ""/],
    ['no key', { GENERATION_ENGINE: 'fashn' }, /FASHN_API_KEY is not set/],
    ['an empty key', { GENERATION_ENGINE: 'fal', FAL_KEY: '' }, /FAL_KEY is not set/],
    ['no token', { GENERATION_ENGINE: 'replicate' }, /REPLICATE_API_TOKEN is not set/],
    ['no account', { GENERATION_ENGINE: 'vertex' }, /VERTEX_PROJECT is not set.*VERTEX_SERVICE/],
    ['no AI binding', { GENERATION_ENGINE: 'workers-ai' }, /AI is not bound/],
    [
      'a model that does not exist',
      { ...KEYS, GENERATION_ENGINE: 'fashn', FASHN_MODEL: 'tryon-v9' },
      /FASHN_MODEL /,
    ],
    [
      'an address without TLS',
      { ...KEYS, GENERATION_ENGINE: 'fal', FAL_BASE_URL: 'http://fal.example' },
      /FAL_BASE_URL must be an https URL/,
    ],
  ])('is refused with the name of the variable for %s', (_, vars, message) => {
    expect(() => namesOf(vars)).toThrow(message)
  })

  it('tells no value in its complaint', () => {
    const vars = {
      GENERATION_ENGINE: 'vertex',
      VERTEX_PROJECT: 'p',
      VERTEX_SERVICE_ACCOUNT: 's3cret, not JSON',
    }
    expect(() => namesOf(vars)).toThrow(expect.not.stringContaining('s3cret'))
  })

  it('makes each engine once per isolate', () => {
    const vars = withVars({ ...KEYS, GENERATION_ENGINE: 'fashn' })
    expect(enginesOf(vars)).toBe(enginesOf(vars))
    expect(enginesOf(vars).named('fashn')).toBe(enginesOf(vars).inOrder[0])
  })

  it('still knows an engine that was taken out of it, as long as that is set up', () => {
    const engines = enginesOf(withVars({ FASHN_API_KEY: SECRET }))
    expect(engines.named('fashn')?.name).toBe('fashn')
    expect(engines.named('fashn')).toBe(engines.named('fashn'))
    expect(engines.named('fal')).toBeUndefined()
    expect(engines.named('fashion')).toBeUndefined()
  })
})
