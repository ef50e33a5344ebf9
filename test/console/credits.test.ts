import { env } from 'cloudflare:workers'
import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/platform/ids.ts'
import type { Organisation } from '../../src/organisation-object.ts'
import { Ledger } from '../../src/credits/ledger.ts'
import { ledgerPage } from '../../src/credits/ledger-reports.ts'
import { newMember, newOwner } from '../support/browser.ts'
import { request } from '../support/client.ts'

/** An organisation that got its first credits last month, and used some this month. */
async function ownerWithLedger() {
  const owner = await newOwner()
  const now = new Date()
  const lastMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) - 1
  const jobs = [newId('job'), newId('job'), newId('job')] as const
  const stub = env.ORGANISATION.getByName(owner.organisationId)
  await runInDurableObject(stub, (_: Organisation, { storage }) => {
    storage.sql.exec('UPDATE ledger_entries SET at = ?', lastMonth)
    const ledger = new Ledger(storage)
    for (const job of jobs) ledger.reserve(job)
    ledger.capture(jobs[0])
    ledger.release(jobs[1])
    ledger.grant({ amount: 50, reference: 'order-1', reason: '=Order "1"' })
  })
  await evictDurableObject(stub) // its memory does not know the entries of another ledger
  return { ...owner, jobs, month: now.toISOString().slice(0, 7) }
}

describe('the page Credits', () => {
  it('shows each job in one row with its state, and rows that add up', async () => {
    const { browser, jobs } = await ownerWithLedger()
    const { html } = await browser.get('/console/credits')
    const rows = (html.split('aria-label="Ledger"')[1] ?? '').split('<tr>').slice(2)
    const cells = rows.map((row) =>
      [...row.matchAll(/<div>(.*?)<\/div>/g)].map(([, cell = '']) => cell),
    )
    // type, change, balance and reserved
    expect(cells.map((cell) => cell.slice(1, 5))).toEqual([
      ['Added', '+50', '148', '1'],
      ['Returned', '0', '98', '1'],
      ['Consumed', '−1', '97', '2'],
      ['Reserved', '0', '97', '3'],
      ['Added', '+100', '100', '0'],
    ])
    const jobsShown = cells.map((cell) => jobs.findIndex((job) => cell[5]?.includes(job)))
    expect(jobsShown).toEqual([-1, 1, 0, 2, -1])
    expect(html).toContain('<dt>Balance</dt><dd>148</dd>')
  })

  it('shows a job that completed after its credit was returned as consumed', async () => {
    const { browser, jobs, organisationId } = await ownerWithLedger()
    await env.ORGANISATION.getByName(organisationId).capture(jobs[1])
    const { html } = await browser.get('/console/credits')
    const ledger = html.split('aria-label="Ledger"')[1] ?? ''
    const row = ledger.split('<tr>').filter((cells) => cells.includes(jobs[1]))
    expect(row).toHaveLength(1)
    expect(row[0]).toContain('<div>Consumed</div>')
    expect(row[0]).toContain('<div>−1</div>')
  })

  it('adds up each month', async () => {
    const { browser, month } = await ownerWithLedger()
    const { html } = await browser.get('/console/credits')
    const months = html.split('Balance at the end</th>')[1]?.split('</table>')[0] ?? ''
    const rows = months
      .split('<tr>')
      .map((row) => [...row.matchAll(/<div>(.*?)<\/div>/g)].map(([, cell]) => cell))
    expect(rows.slice(1).map((cells) => cells.slice(1))).toEqual([
      ['+50', '1', '148'],
      ['+100', '0', '100'],
    ])
    expect(months).toContain(`/credits?month=${month}"`)
  })

  it('is filtered by type and month', async () => {
    const { browser, month } = await ownerWithLedger()
    const labels = async (query: string) => {
      const { html } = await browser.get(`/console/credits?${query}`)
      const ledger = html.split('aria-label="Ledger"')[1] ?? ''
      return [...ledger.matchAll(/data-label="Type"[^>]*><div>(.*?)</g)].map(([, label]) => label)
    }
    expect(await labels('kind=added')).toEqual(['Added', 'Added'])
    expect(await labels(`kind=added&month=${month}`)).toEqual(['Added'])
    expect(await labels('kind=consumed')).toEqual(['Consumed'])
    expect(await labels('kind=returned')).toEqual(['Returned'])
    expect(await labels('kind=reserved')).toEqual(['Reserved'])
    expect(await labels('kind=x&month=y&before=z')).toHaveLength(5)
    const { html } = await browser.get('/console/credits?month=2020-01')
    expect(html).toContain('No matching entries')
  })

  it('downloads the selected entries as CSV', async () => {
    const { browser, jobs, month } = await ownerWithLedger()
    const page = await browser.get(`/console/credits/ledger.csv?month=${month}`)
    expect(page.headers.get('Content-Disposition')).toContain(`try-on-credits-${month}-`)
    const lines = page.source.split('\r\n')
    expect(lines[0]).toBe('time,type,change,balance,reserved,consumed,job_id,reason')
    expect(lines[1]).toMatch(/Z,Added,50,148,1,1,,"'=Order ""1"""$/)
    expect(lines[2]).toContain(`,Returned,0,98,1,1,${jobs[1]},`)
    expect(lines).toHaveLength(6) // the last line is empty
    const all = await browser.get('/console/credits/ledger.csv')
    expect(all.source.split('\r\n')).toHaveLength(7)
    const address = page.address.replace(/\?.*/, '')
    expect((await request(address, { redirect: 'manual' })).status).toBe(303)
    const log = await browser.get('/console/settings/audit-log')
    expect(log.html.match(/<div>Exported the ledger/g)).toHaveLength(2)
    for (let exports = 2; exports < 10; exports++) await browser.get(address)
    expect((await browser.get(address)).status).toBe(429)
  })

  it('hides the jobs from a member who may not read them', async () => {
    const { organisationId, jobs } = await ownerWithLedger()
    const billing = await newMember(organisationId, 'billing')
    for (const page of ['/console/credits', '/console/credits/ledger.csv']) {
      const { status, source } = await billing.browser.get(page)
      expect(status).toBe(200)
      expect(source).not.toContain(jobs[1])
    }
  })
})

describe('a page of a long ledger', () => {
  it('has each job once on its pages, also when the entries of jobs are far apart', async () => {
    const { organisationId } = await newOwner()
    const jobs = Array.from({ length: 9 }, () => newId('job'))
    await runInDurableObject(
      env.ORGANISATION.getByName(organisationId),
      (_: Organisation, { storage }) => {
        const ledger = new Ledger(storage)
        for (const job of jobs) ledger.reserve(job)
        for (const job of jobs.slice(1)) ledger.capture(job)
        storage.sql.exec('DELETE FROM reservations WHERE job_id = ?', jobs[8]) // as the cleanup does
        const shown: (string | null)[] = []
        let before: number | undefined
        do {
          const page = ledgerPage(storage.sql, { limit: 2, before })
          shown.push(...page.entries.map(({ jobId }) => jobId))
          before = page.nextBefore ?? undefined
        } while (before !== undefined)
        expect(shown).toEqual([...jobs.slice(1).toReversed(), jobs[0], null])
      },
    )
  })

  it('shows what a day of jobs consumed after they were rolled up', async () => {
    const { organisationId } = await newOwner()
    const jobs = [newId('job'), newId('job')] as const
    await runInDurableObject(
      env.ORGANISATION.getByName(organisationId),
      (_: Organisation, { storage }) => {
        const ledger = new Ledger(storage)
        for (const job of jobs) ledger.reserve(job)
        ledger.capture(jobs[0])
        storage.sql.exec('UPDATE ledger_entries SET at = at - ?', 500 * 24 * 3_600_000)
        ledger.cleanUp(Date.now())
        expect(ledgerPage(storage.sql, { limit: 10 }).entries).toMatchObject([
          { kind: 'rollup', change: -1, balance: 98, reserved: 1 },
          { kind: 'grant', change: 100, balance: 100, reserved: 0 },
        ])
      },
    )
  })

  it('reads a bounded number of entries, and the next page continues', async () => {
    const { organisationId } = await newOwner()
    await runInDurableObject(
      env.ORGANISATION.getByName(organisationId),
      (_: Organisation, { storage: { sql } }) => {
        sql.exec(
          `WITH RECURSIVE n(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < 30000)
           INSERT INTO ledger_entries (id, at, kind, amount, granted, balance, reserved, consumed)
           SELECT n, ?, 'capture', 0, 100, 100, 0, 0 FROM n`,
          Date.now(),
        )
        const first = ledgerPage(sql, { limit: 10, kinds: ['grant'] })
        expect(first).toMatchObject({ entries: [], nextBefore: 10_001 })
        const second = ledgerPage(sql, { limit: 10, kinds: ['grant'], before: 10_001 })
        expect(second).toMatchObject({ entries: [{ id: 1 }], nextBefore: null })
        expect(ledgerPage(sql, { limit: 10 }).nextBefore).toBe(29_991)
      },
    )
  })
})
