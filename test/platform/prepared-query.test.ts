import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { database, type Database } from '../../src/platform/db/database.ts'
import { preparedBatch, preparedQuery } from '../../src/platform/db/prepared-query.ts'
import { freeCreditClaims } from '../../src/platform/db/schema.ts'
import { organisationStub } from '../../src/credits/organisation-stub.ts'
import { newId } from '../../src/platform/ids.ts'

const byClaimant = (db: Database) =>
  db
    .select({ organisationId: freeCreditClaims.organisationId })
    .from(freeCreditClaims)
    .where(sql`${freeCreditClaims.claimant} = ${sql.placeholder('claimant')}`)
    .prepare()

beforeAll(async () => {
  await database(env)
    .insert(freeCreditClaims)
    .values(
      ['one', 'two', 'three'].map((claimant) => ({
        claimant,
        organisationId: `org of ${claimant}`,
        createdAt: new Date(),
      })),
    )
})

/** Runs `call` in a separate request: an Organisation handles each call in its own context. */
const inRequest = <Result>(call: () => Promise<Result>): Promise<Result> =>
  runInDurableObject(organisationStub(env, newId('org')), call)

describe('preparedQuery', () => {
  it('builds a query once and runs it in several requests', async () => {
    const build = vi.fn(byClaimant)
    const query = preparedQuery(build)
    const first = await inRequest(() => query(env.DB).all({ claimant: 'one' }))
    const second = await inRequest(() => query(env.DB).all({ claimant: 'two' }))
    expect(first).toEqual([{ organisationId: 'org of one' }])
    expect(second).toEqual([{ organisationId: 'org of two' }])
    expect(build).toHaveBeenCalledOnce()
    expect(query(env.DB)).toBe(query(env.DB))
  })

  it('creates a D1 statement for each call', async () => {
    const prepare = vi.spyOn(env.DB, 'prepare')
    const query = preparedQuery(byClaimant)
    query(env.DB)
    expect(prepare).not.toHaveBeenCalled()
    await query(env.DB).all({ claimant: 'one' })
    await query(env.DB).all({ claimant: 'two' })
    expect(prepare).toHaveBeenCalledTimes(2)
  })

  it('does not use the values of an earlier call', async () => {
    const query = preparedQuery(byClaimant)
    await query(env.DB).all({ claimant: 'one' })
    expect(await query(env.DB).all({ claimant: 'unknown' })).toEqual([])
    await expect(query(env.DB).all({})).rejects.toThrow('No value for placeholder "claimant"')
  })

  it('does not mix the values of concurrent calls', async () => {
    const query = preparedQuery(byClaimant)
    const claimants = ['one', 'two', 'three', 'one', 'three']
    const results = await Promise.all(claimants.map((claimant) => query(env.DB).all({ claimant })))
    expect(results).toEqual(claimants.map((claimant) => [{ organisationId: `org of ${claimant}` }]))
  })

  it('builds a query for each database', async () => {
    const build = vi.fn(byClaimant)
    const query = preparedQuery(build)
    const other = env.JOBS_DB_0
    expect(query(other)).not.toBe(query(env.DB))
    expect(build).toHaveBeenCalledTimes(2)
    expect(await query(other).all({ claimant: 'three' })).toEqual([])
    expect(await query(env.DB).all({ claimant: 'three' })).toHaveLength(1)
  })
})

describe('preparedBatch', () => {
  const renameAndRead = (db: Database) =>
    [
      db
        .update(freeCreditClaims)
        .set({ organisationId: sql`${sql.placeholder('organisationId')}` })
        .where(sql`${freeCreditClaims.claimant} = ${sql.placeholder('claimant')}`)
        .returning(),
      db
        .select({ createdAt: freeCreditClaims.createdAt })
        .from(freeCreditClaims)
        .where(sql`${freeCreditClaims.claimant} = ${sql.placeholder('claimant')}`),
    ] as const

  const insertClaim = (claimant: string) =>
    database(env)
      .insert(freeCreditClaims)
      .values({ claimant, organisationId: 'org', createdAt: new Date(1_000) })

  it('builds its queries once and maps the rows of each', async () => {
    const build = vi.fn(renameAndRead)
    const run = preparedBatch(build)
    await insertClaim('renamed')
    const [renamed, read] = await run(env.DB, { claimant: 'renamed', organisationId: 'new' })
    expect(renamed).toEqual([
      { claimant: 'renamed', organisationId: 'new', createdAt: new Date(1_000) },
    ])
    expect(read).toEqual([{ createdAt: new Date(1_000) }])
    expect(await run(env.DB, { claimant: 'unknown', organisationId: 'new' })).toEqual([[], []])
    expect(build).toHaveBeenCalledOnce()
  })

  it('changes nothing when one of its queries fails', async () => {
    const fails = preparedBatch((db) => [
      ...renameAndRead(db),
      db
        .insert(freeCreditClaims)
        .values({ claimant: 'one', organisationId: '', createdAt: new Date() }),
    ])
    await expect(fails(env.DB, { claimant: 'two', organisationId: 'new' })).rejects.toThrow()
    expect(await database(env).select().from(freeCreditClaims)).not.toContainEqual(
      expect.objectContaining({ organisationId: 'new', claimant: 'two' }),
    )
  })
})
