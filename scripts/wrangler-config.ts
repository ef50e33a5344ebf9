// What wrangler.toml says about an environment: the resources that a deployment needs.
import { join } from 'node:path'
import { unstable_readConfig as readConfig } from 'wrangler'
import { z } from 'zod'
import { ROOT } from './wrangler.ts'

const Name = z.string('every resource of wrangler.toml needs a name')

const Config = z.object({
  name: Name,
  compatibility_date: z.string(),
  d1_databases: z.array(
    z.object({
      binding: z.string(),
      database_name: Name,
      database_id: z.string().optional(),
      preview_database_id: z.string().optional(),
    }),
  ),
  r2_buckets: z.array(z.object({ bucket_name: Name })),
  queues: z.object({
    producers: z.array(z.object({ queue: Name })).default([]),
    consumers: z
      .array(z.object({ queue: Name, dead_letter_queue: z.string().optional() }))
      .default([]),
  }),
  vars: z.record(z.string(), z.unknown()),
})

export interface DeploymentConfig {
  /** The name of the Worker. */
  worker: string
  compatibilityDate: string
  /** The environment of wrangler.toml; undefined for the top level. */
  environment: string | undefined
  /** `localId` identifies the local database for wrangler and Miniflare. */
  databases: { binding: string; name: string; localId: string }[]
  /** With the dead-letter queues, each one once. */
  queues: string[]
  buckets: string[]
  /** Variables with a text that is not empty. */
  vars: Map<string, string>
}

/**
 * Reads wrangler.toml.
 * @param environment undefined for the top level
 * @throws Error when there is no such environment, or when a resource has no name
 */
export function readDeploymentConfig(environment: string | undefined): DeploymentConfig {
  const config = Config.parse(
    readConfig({ config: join(ROOT, 'wrangler.toml'), env: environment }, { hideWarnings: true }),
  )
  const { producers, consumers } = config.queues
  const queues = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ queue, dead_letter_queue: dead }) => (dead ? [queue, dead] : [queue])),
  ]
  return {
    worker: config.name,
    compatibilityDate: config.compatibility_date,
    environment,
    databases: config.d1_databases.map((database) => ({
      binding: database.binding,
      name: database.database_name,
      localId: database.preview_database_id ?? database.database_id ?? database.binding,
    })),
    queues: [...new Set(queues)],
    buckets: config.r2_buckets.map(({ bucket_name: name }) => name),
    vars: new Map(
      Object.entries(config.vars).flatMap(([name, value]) =>
        typeof value === 'string' && value !== '' ? [[name, value] as const] : [],
      ),
    ),
  }
}
