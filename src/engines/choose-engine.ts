// The engines that GENERATION_ENGINE names, created once per isolate. Only the settings of these
// engines are required.
import { z } from 'zod'
import { perObject } from '../platform/per-object.ts'
import { perEnv, settingsOf } from '../platform/settings.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { compositor } from './compositor.ts'
import type { Engine } from './engine.ts'
import { createFal, FalSettings } from './fal.ts'
import { createFashn, FashnSettings } from './fashn.ts'
import { createReplicate, ReplicateSettings } from './replicate.ts'
import { scaleWith, type ScalingImages } from './scale.ts'
import { createVertex, VertexSettings } from './vertex.ts'
import { createWorkersAi, WorkersAiSettings, type WorkersAi } from './workers-ai.ts'

export interface Engines {
  /** The engines of live mode, in the order in which jobs try them. */
  readonly inOrder: readonly Engine[]
  /**
   * An engine by its name, even if GENERATION_ENGINE no longer names it, since work that it has already
   * started is still polled. Undefined when it is not configured.
   */
  named(name: string): Engine | undefined
  breakerOf(engine: Engine): CircuitBreaker
}

const isBinding = (value: unknown) => value !== undefined && value !== null

// Neither binding is in the default configuration: AI has no local simulation. See docs/engines.md.
const AiBinding = z.object({
  AI: z.custom<WorkersAi>(isBinding, 'is not bound: add [ai] to wrangler.toml'),
})
const ImagesBinding = z.object({ IMAGES_API: z.custom<ScalingImages>(isBinding).optional() })

const ENGINE_FACTORIES: Record<string, (env: Env) => Engine> = {
  compositor: () => compositor,
  'workers-ai': (env) =>
    createWorkersAi(read(WorkersAiSettings, env), read(AiBinding, env).AI, scaleOf(env)),
  fashn: (env) => createFashn(read(FashnSettings, env)),
  fal: (env) => createFal(read(FalSettings, env)),
  replicate: (env) => createReplicate(read(ReplicateSettings, env)),
  vertex: (env) => createVertex(read(VertexSettings, env), scaleOf(env)),
}

function scaleOf(env: Env) {
  const { IMAGES_API } = read(ImagesBinding, env)
  return IMAGES_API && scaleWith(IMAGES_API)
}

/**
 * The engines of this Worker.
 * @throws Error with the name of the variable that is missing or invalid, never with its value
 */
export const enginesOf = perEnv((env): Engines => {
  const names = new Set(settingsOf(env).generationEngines)
  const inOrder = Array.from(names, (name) => createEngine(name, env))
  return createEngines(inOrder, (name) => {
    try {
      return createEngine(name, env)
    } catch {
      return undefined
    }
  })
})

/**
 * Creates `Engines` from any list. Exported for tests.
 * @param createOther creates an engine that is not in `inOrder`; undefined when it is not configured
 */
export function createEngines(
  inOrder: readonly Engine[],
  createOther: (name: string) => Engine | undefined,
): Engines {
  const others = new Map<string, Engine | undefined>()
  return {
    inOrder,
    named(name) {
      const active = inOrder.find((engine) => engine.name === name)
      if (active) return active
      if (!others.has(name)) others.set(name, createOther(name))
      return others.get(name)
    },
    breakerOf: perObject(() => new CircuitBreaker()),
  }
}

function createEngine(name: string, env: Env): Engine {
  const create = Object.hasOwn(ENGINE_FACTORIES, name) ? ENGINE_FACTORIES[name] : undefined
  if (create) return create(env)
  const known = Object.keys(ENGINE_FACTORIES).join(', ')
  throw new Error(`GENERATION_ENGINE names "${name}", which is not one of: ${known}`)
}

/** Parses the settings of an engine. An empty variable counts as not set. */
function read<Settings>(schema: z.ZodType<Settings>, env: Env): Settings {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const problems = result.error.issues.map(({ path, message, code }) => {
    const name = String(path[0])
    return `${name} ${name in present || code === 'custom' ? message : 'is not set'}`
  })
  throw new Error(
    `GENERATION_ENGINE names an engine that is not configured: ${problems.join('; ')}`,
  )
}
