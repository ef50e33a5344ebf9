import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { enginesOf } from '../../src/engines/choose-engine.ts'
import { SECRET, vertexSettings } from '../support/engines.ts'

const withVars = (vars: Record<string, unknown>): Env => ({ ...env, ...vars })
const KEYS = { FASHN_API_KEY: SECRET, FAL_KEY: SECRET, REPLICATE_API_TOKEN: SECRET }
const namesOf = (vars: Record<string, unknown>) =>
  enginesOf(withVars(vars)).inOrder.map(({ name }) => name)

describe('GENERATION_ENGINE', () => {
  it('defaults to the compositor, which needs no settings', () => {
    expect(namesOf({})).toEqual(['compositor'])
    expect(namesOf({ GENERATION_ENGINE: undefined })).toEqual(['compositor'])
  })

  it('creates the engines in its order, without duplicates', () => {
    const GENERATION_ENGINE = 'fal, fashn,replicate , compositor,fal'
    expect(namesOf({ ...KEYS, GENERATION_ENGINE })).toEqual([
      'fal',
      'fashn',
      'replicate',
      'compositor',
    ])
  })

  it('creates workers-ai with the AI binding and vertex with its service account', () => {
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
    ['a property of Object.prototype', { GENERATION_ENGINE: 'toString' }, /names "toString"/],
    ['an empty name', { ...KEYS, GENERATION_ENGINE: 'fashn,' }, /GENERATION_ENGINE names ""/],
    ['a missing key', { GENERATION_ENGINE: 'fashn' }, /FASHN_API_KEY is not set/],
    ['an empty key', { GENERATION_ENGINE: 'fal', FAL_KEY: '' }, /FAL_KEY is not set/],
    ['a missing token', { GENERATION_ENGINE: 'replicate' }, /REPLICATE_API_TOKEN is not set/],
    [
      'a missing service account',
      { GENERATION_ENGINE: 'vertex' },
      /VERTEX_PROJECT is not set.*VERTEX_SERVICE/,
    ],
    ['a missing AI binding', { GENERATION_ENGINE: 'workers-ai' }, /AI is not bound/],
    [
      'a model that does not exist',
      { ...KEYS, GENERATION_ENGINE: 'fashn', FASHN_MODEL: 'tryon-v9' },
      /FASHN_MODEL /,
    ],
    [
      'a base URL without TLS',
      { ...KEYS, GENERATION_ENGINE: 'fal', FAL_BASE_URL: 'http://fal.example' },
      /FAL_BASE_URL must be an https URL/,
    ],
  ])('throws with the name of the variable for %s', (_, vars, message) => {
    expect(() => namesOf(vars)).toThrow(message)
  })

  it('does not include values in the error', () => {
    const vars = {
      GENERATION_ENGINE: 'vertex',
      VERTEX_PROJECT: 'p',
      VERTEX_SERVICE_ACCOUNT: 's3cret, not JSON',
    }
    expect(() => namesOf(vars)).toThrow(expect.not.stringContaining('s3cret'))
  })

  it('creates each engine once per isolate', () => {
    const vars = withVars({ ...KEYS, GENERATION_ENGINE: 'fashn' })
    expect(enginesOf(vars)).toBe(enginesOf(vars))
    expect(enginesOf(vars).named('fashn')).toBe(enginesOf(vars).inOrder[0])
  })

  it('finds a configured engine that the setting no longer names', () => {
    const engines = enginesOf(withVars({ FASHN_API_KEY: SECRET }))
    expect(engines.named('fashn')?.name).toBe('fashn')
    expect(engines.named('fashn')).toBe(engines.named('fashn'))
    expect(engines.named('fal')).toBeUndefined()
    expect(engines.named('fashion')).toBeUndefined()
  })
})
