// The schema of an Organisation's own SQLite: brought up to date from every earlier version.
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/ids.ts'
import { createKey } from '../../src/organisation/api-key.ts'
import { migrate, SCHEMA_STEPS } from '../../src/organisation/migrations.ts'
import { clientOf } from '../support/client.ts'
import { violationsOf } from '../support/facts.ts'
import { holdMessages } from '../support/live-job.ts'
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

/** Puts an organisation back to an earlier schema: one grant of 10 credits and one accepted submission. */
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

/** Name, steps that were run, and whether their number is stored. */
const VERSIONS: [string, readonly string[], boolean][] = [
  ['from before there were versions', SCHEMA_STEPS.slice(0, 1), false],
  ...SCHEMA_STEPS.map((_, n): [string, readonly string[], boolean] => [
    `version ${n + 1}`,
    SCHEMA_STEPS.slice(0, n + 1),
    true,
  ]),
]

describe('the schema of an Organisation', () => {
  it.each(VERSIONS)('is brought up to date, with its rows: %s', async (_, steps, versioned) => {
    holdMessages()
    const shop = await newOrganisation()
    const latest = await schemaOf(shop.orgId)
    await downgrade(shop.orgId, steps, versioned)
    await submit(shop.live)
    expect(await schemaOf(shop.orgId)).toEqual(latest)
    expect(await ledgerOf(shop)).toEqual({ granted: 10, balance: 9, reserved: 1, consumed: 0 })
    expect(await violationsOf(shop.orgId)).toEqual([expect.stringContaining('is still pending')])
    // Migrated once, it is not migrated again.
    await evictDurableObject(stubOf(shop.orgId))
    expect(await ledgerOf(shop)).toMatchObject({ balance: 9 })
  })

  it('is undone as a whole when a step fails', async () => {
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

  it('does not exist for an id that no organisation has', async () => {
    const orgId = newId('org')
    const unknown = clientOf(createKey(orgId, 'live'))
    expect((await unknown.get('/v1/account')).status).toBe(401)
    expect(await schemaOf(orgId)).toEqual([])
  })

  it('finds an accepted submission by its job without reading all', async () => {
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
