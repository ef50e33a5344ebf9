// What wrangler.toml says about an environment: the resources that a deployment needs.
import { join } from 'node:path'
import { unstable_readConfig as readConfig } from 'wrangler'
import { z } from 'zod'
import {
  JURISDICTION_PROBLEM,
  JURISDICTIONS,
  type Jurisdiction,
} from '../src/platform/jurisdiction.ts'
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
  r2_buckets: z.array(z.object({ bucket_name: Name, jurisdiction: z.string().optional() })),
  queues: z.object({
    producers: z.array(z.object({ queue: Name })).default([]),
    consumers: z
      .array(
        z.object({
          queue: Name,
          dead_letter_queue: z.string().optional(),
          // Null if it is not set.
          max_concurrency: z.number().nullish(),
        }),
      )
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
  /** The queues whose consumers have a limit of their own. */
  limitedQueues: string[]
  buckets: string[]
  /** Where the databases, the buckets and the Organisations are; undefined: anywhere. */
  jurisdiction: Jurisdiction | undefined
  /** Variables with a text that is not empty. */
  vars: Map<string, string>
}

/**
 * Reads wrangler.toml.
 * @param environment undefined for the top level
 * @throws Error when there is no such environment, a resource has no name, or the jurisdictions differ
 */
export function readDeploymentConfig(environment: string | undefined): DeploymentConfig {
  const config = Config.parse(
    readConfig({ config: join(ROOT, 'wrangler.toml'), env: environment }, { hideWarnings: true }),
  )
  const { producers, consumers } = config.queues
  const jurisdiction = jurisdictionOf(config)
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
    limitedQueues: consumers.flatMap(({ queue, max_concurrency: limit }) => (limit ? [queue] : [])),
    buckets: config.r2_buckets.map(({ bucket_name: name }) => name),
    jurisdiction,
    vars: new Map(
      Object.entries(config.vars).flatMap(([name, value]) =>
        typeof value === 'string' && value !== '' ? [[name, value] as const] : [],
      ),
    ),
  }
}

/**
 * The jurisdiction of an environment; undefined without one.
 * @throws Error if it is unknown, or not that of each bucket
 */
export function jurisdictionOf({
  vars,
  r2_buckets: buckets,
}: Pick<z.infer<typeof Config>, 'vars' | 'r2_buckets'>): Jurisdiction | undefined {
  const { JURISDICTION: value = '' } = vars
  const jurisdiction = JURISDICTIONS.find((known) => known === value)
  if (value !== '' && !jurisdiction) throw new Error(`JURISDICTION ${JURISDICTION_PROBLEM}`)
  for (const { bucket_name: name, jurisdiction: own } of buckets) {
    if (own === jurisdiction) continue
    throw new Error(
      `JURISDICTION is ${jurisdiction ?? 'not set'}, and the jurisdiction of the bucket ${name} is ${own ?? 'not set'}: set both to the same value in wrangler.toml`,
    )
  }
  return jurisdiction
}
