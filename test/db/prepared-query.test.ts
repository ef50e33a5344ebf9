import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { database } from '../../src/db/client.ts'
import type { Database } from '../../src/db/client.ts'
import { preparedQuery } from '../../src/db/prepared-query.ts'
import { freeCreditClaims } from '../../src/db/schema.ts'
import { organisationStub } from '../../src/organisation/stub.ts'
import { newId } from '../../src/ids.ts'

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
    const first = await inRequest(() => query(env).all({ claimant: 'one' }))
    const second = await inRequest(() => query(env).all({ claimant: 'two' }))
    expect(first).toEqual([{ organisationId: 'org of one' }])
    expect(second).toEqual([{ organisationId: 'org of two' }])
    expect(build).toHaveBeenCalledOnce()
    expect(query(env)).toBe(query(env))
  })

  it('creates a D1 statement for each call', async () => {
    const prepare = vi.spyOn(env.DB, 'prepare')
    const query = preparedQuery(byClaimant)
    query(env)
    expect(prepare).not.toHaveBeenCalled()
    await query(env).all({ claimant: 'one' })
    await query(env).all({ claimant: 'two' })
    expect(prepare).toHaveBeenCalledTimes(2)
  })

  it('does not use the values of an earlier call', async () => {
    const query = preparedQuery(byClaimant)
    await query(env).all({ claimant: 'one' })
    expect(await query(env).all({ claimant: 'unknown' })).toEqual([])
    await expect(query(env).all({})).rejects.toThrow('No value for placeholder "claimant"')
  })

  it('does not mix the values of concurrent calls', async () => {
    const query = preparedQuery(byClaimant)
    const claimants = ['one', 'two', 'three', 'one', 'three']
    const results = await Promise.all(claimants.map((claimant) => query(env).all({ claimant })))
    expect(results).toEqual(claimants.map((claimant) => [{ organisationId: `org of ${claimant}` }]))
  })

  it('builds a query for each environment', async () => {
    const build = vi.fn(byClaimant)
    const query = preparedQuery(build)
    const other = { ...env }
    expect(query(other)).not.toBe(query(env))
    expect(build).toHaveBeenCalledTimes(2)
  })
})
