// Which engines do the work, made once per isolate from the Worker's settings. Only what the chosen
// ones need has to be set.
import { z } from 'zod'
import { perEnv, settingsOf } from '../settings.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { compositor } from './compositor.ts'
import type { Engine } from './engine.ts'
import { createFal, FalSettings } from './fal.ts'
import { createFashn, FashnSettings } from './fashn.ts'
import { createReplicate, ReplicateSettings } from './replicate.ts'
import { scaleWith } from './scale.ts'
import type { ScalingImages } from './scale.ts'
import { createVertex, VertexSettings } from './vertex.ts'
import { createWorkersAi, WorkersAiSettings } from './workers-ai.ts'
import type { WorkersAi } from './workers-ai.ts'

export interface Engines {
  /** The engines of live mode, in the order in which they are tried. */
  readonly inOrder: readonly Engine[]
  /**
   * An engine by its name, in use or not: work that runs at one that was since taken out of
   * GENERATION_ENGINE is paid for, and still worth asking after. undefined when it is not set up.
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

const MAKERS: Record<string, (env: Env) => Engine> = {
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
 * @throws Error that names the variable that is wrong or missing, never its value
 */
export const enginesOf = perEnv((env): Engines => {
  const names = new Set(settingsOf(env).generationEngines)
  const inOrder = Array.from(names, (name) => make(name, env))
  return gather(inOrder, (name) => makeIfSetUp(name, env))
})

/**
 * Engines to choose from. Exported for tests alone, which bring their own.
 * @param makeOther makes an engine that is not in use, if it can
 */
export function gather(
  inOrder: readonly Engine[],
  makeOther: (name: string) => Engine | undefined,
): Engines {
  const others = new Map<string, Engine | undefined>()
  const breakers = new WeakMap<Engine, CircuitBreaker>()
  return {
    inOrder,
    named(name) {
      const inUse = inOrder.find((engine) => engine.name === name)
      if (inUse) return inUse
      if (!others.has(name)) others.set(name, makeOther(name))
      return others.get(name)
    },
    breakerOf(engine) {
      let breaker = breakers.get(engine)
      if (!breaker) breakers.set(engine, (breaker = new CircuitBreaker()))
      return breaker
    },
  }
}

function make(name: string, env: Env): Engine {
  const maker = Object.hasOwn(MAKERS, name) ? MAKERS[name] : undefined
  if (maker) return maker(env)
  throw new Error(`GENERATION_ENGINE names "${name}"; there are ${Object.keys(MAKERS).join(', ')}`)
}

function makeIfSetUp(name: string, env: Env): Engine | undefined {
  try {
    return make(name, env)
  } catch {
    return undefined
  }
}

/** An empty variable is one that is not set. */
function read<Read>(schema: z.ZodType<Read>, env: Env): Read {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = schema.safeParse(present)
  if (result.success) return result.data
  const complaints = result.error.issues.map(({ path, message, code }) => {
    const name = String(path[0])
    return `${name} ${name in present || code === 'custom' ? message : 'is not set'}`
  })
  throw new Error(
    `GENERATION_ENGINE asks for an engine that is not set up: ${complaints.join('; ')}`,
  )
}
