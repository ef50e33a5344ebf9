import { settingsOf } from '../settings.ts'
import { compositor } from './compositor/compositor.ts'
import type { Engine } from './engine.ts'

const ENGINES: Record<string, (env: Env) => Engine> = {
  compositor: () => compositor,
}

/**
 * The engines of live mode, in the order in which they are tried.
 * @throws Error when GENERATION_ENGINE names one that does not exist
 */
export function enginesOf(env: Env): Engine[] {
  return settingsOf(env).generationEngines.map((name) => {
    const make = ENGINES[name]
    if (!make) {
      throw new Error(
        `GENERATION_ENGINE names "${name}"; known are ${Object.keys(ENGINES).join(', ')}`,
      )
    }
    return make(env)
  })
}
