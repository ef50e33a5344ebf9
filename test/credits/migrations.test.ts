// Migrations of an Organisation's SQLite from every earlier version.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import { createKey } from '../../src/credits/api-key.ts'
import { migrate, SCHEMA_STEPS } from '../../src/credits/migrations.ts'
import { clientOf } from '../support/client.ts'
import { violationsOf } from '../support/facts.ts'
import { dropMessages } from '../support/live-job.ts'
import { ledgerOf, newOrganisation, submit } from '../support/world.ts'

const stubOf = (orgId: string) => env.ORGANISATION.getByName(orgId)

const schemaOf = (orgId: string) =>
  runInDurableObject(stubOf(orgId), (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE name NOT LIKE '_cf_%' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .toArray()
      .map(({ name }) => name),
  )

/** Resets an organisation to an earlier schema, with one grant and one accepted submission. */
async function downgrade(orgId: string, steps: readonly string[], versioned: boolean) {
  await runInDurableObject(stubOf(orgId), async (_, { storage }) => {
    await storage.deleteAll()
    if (versioned) migrate(storage, steps)
    else for (const step of steps) storage.sql.exec(step)
    storage.sql.exec(
      `INSERT INTO ledger_entries (at, kind, amount, reference, reason, granted, balance, reserved, consumed)
       VALUES (0, 'grant', 10, 'sign-up', 'Credits', 10, 10, 0, 0)`,
    )
    storage.sql.exec(
      `INSERT INTO accepted_submissions VALUES ('live', 'key', 'print', 'job', 'ws', NULL, 0)`,
    )
  })
  await evictDurableObject(stubOf(orgId))
}

/** The name, the steps, and whether the version is stored. */
const VERSIONS: [string, readonly string[], boolean][] = [
  ['before the first version', SCHEMA_STEPS.slice(0, 1), false],
  ...SCHEMA_STEPS.map((_, n): [string, readonly string[], boolean] => [
    `version ${n + 1}`,
    SCHEMA_STEPS.slice(0, n + 1),
    true,
  ]),
]

describe('migrations of an Organisation', () => {
  it.each(VERSIONS)('update the schema and preserve its rows: %s', async (_, steps, versioned) => {
    dropMessages()
    const shop = await newOrganisation()
    const latest = await schemaOf(shop.orgId)
    await downgrade(shop.orgId, steps, versioned)
    await submit(shop.live)
    expect(await schemaOf(shop.orgId)).toEqual(latest)
    expect(await ledgerOf(shop)).toEqual({ granted: 10, balance: 9, reserved: 1, consumed: 0 })
    expect(await violationsOf(shop.orgId)).toEqual([expect.stringContaining('is still pending')])
    // The migration runs only once.
    await evictDurableObject(stubOf(shop.orgId))
    expect(await ledgerOf(shop)).toMatchObject({ balance: 9 })
  })

  it('are rolled back when a step fails', async () => {
    const { orgId } = await newOrganisation()
    await runInDurableObject(stubOf(orgId), async (_, { storage }) => {
      await storage.deleteAll()
      const broken = [SCHEMA_STEPS[0] ?? '', 'CREATE TABLE broken']
      expect(() => migrate(storage, broken)).toThrow()
    })
    expect(await schemaOf(orgId)).toEqual([])
    await runInDurableObject(stubOf(orgId), (_, { storage }) => {
      migrate(storage)
      expect(storage.kv.get('schema-version')).toBe(SCHEMA_STEPS.length)
    })
  })

  it('do not run for an unknown organisation', async () => {
    const orgId = newId('org')
    const unknown = clientOf(createKey(orgId, 'live'))
    expect((await unknown.get('/v1/account')).status).toBe(401)
    expect(await schemaOf(orgId)).toEqual([])
  })

  it('create an index on the job of an accepted submission', async () => {
    const { orgId } = await newOrganisation()
    const plan = await runInDurableObject(stubOf(orgId), (_, { storage }) =>
      storage.sql
        .exec<{ detail: string }>(
          "EXPLAIN QUERY PLAN DELETE FROM accepted_submissions WHERE job_id = 'job'",
        )
        .toArray(),
    )
    expect(JSON.stringify(plan)).toContain('accepted_submissions_by_job')
  })
})
