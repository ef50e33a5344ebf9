// Each heavy thing that a free account can do, and what a paying neighbour feels of it. Times are noise on a
// busy machine, so the bound is on order: the neighbour's operation ends before half of the heavy ones that are
// not refused.
// `npm run bench -- --only=fairness` measures times. `npm test` runs each heavy thing with one operation of the
// neighbour, and each operation at least once; `npm run test:all` runs the whole table.
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { passwordHash } from '../../src/users/password-hash.ts'
import { newBrowser, newOwner, tryOn, type Owner } from '../support/browser.ts'
import { clientOf } from '../support/client.ts'
import { picture, scripted, useEngines } from '../support/fake-engines.ts'
import { realPasswordHash } from '../support/password-hash.ts'
import { jpeg, png } from '../support/picture.ts'
import { fakeUpstream } from '../support/upstream.ts'
import { finished, newOrganisation, submit, type TestOrganisation } from '../support/world.ts'

// Sign-ins take time.
Object.assign(passwordHash, realPasswordHash)

const upstream = fakeUpstream()
const PICTURES = {
  model_image_url: 'https://fast.test/model',
  garment_image_url: 'https://fast.test/garment',
}
const HOOK = 'https://fast.test/hook'
/** So many that a neighbour on a slow machine is done long before half of them. */
const OPERATIONS = 40
/** Takes little time. */
const THUMBNAILS = 200

interface Tenants {
  /** The free account, and a job of it with a picture. */
  free: Owner
  jobId: string
  /** The paying neighbour, and its member in the console. */
  paying: TestOrganisation
  member: Owner
}

/** One operation of the free account. */
const HEAVY: Record<string, (tenants: Tenants) => Promise<{ status: number }>> = {
  'reads the overview': ({ free }) => free.browser.get('/console'),
  'lists jobs in the console': ({ free }) => free.browser.get('/console/jobs?status=completed'),
  'loads thumbnails': ({ free, jobId }) => free.browser.get(`/console/jobs/${jobId}/thumbnail`),
  'exports its jobs': ({ free }) => free.browser.post('/console/jobs/export'),
  'submits test jobs with failing webhooks': ({ free }) =>
    free.browser.post('/console/playground/sample', { nonce: crypto.randomUUID(), mode: 'test' }),
  'signs in with wrong passwords': ({ free }) =>
    newBrowser().post('/console/sign-in', { email: free.email, password: 'a wrong password' }),
  'changes settings': ({ free }) =>
    free.browser.post('/console/settings/organisation/name', { name: crypto.randomUUID() }),
}

/** What the neighbour does meanwhile. */
const NEIGHBOUR: Record<string, (tenants: Tenants) => Promise<void>> = {
  GET: async ({ paying }) => {
    expect((await paying.live.get('/v1/account')).status).toBe(200)
  },
  'test job with a webhook': async ({ paying }) => {
    const { job_id: id } = await submit(paying.test, { webhook_url: HOOK })
    expect((await finished(paying.test, id)).status).toBe('completed')
  },
  'live job': async ({ paying }) => {
    const { job_id: id } = await submit(paying.live, PICTURES)
    expect((await finished(paying.live, id)).status).toBe('completed')
  },
  'console page': async ({ member }) => {
    expect((await member.browser.get('/console/jobs')).status).toBe(200)
  },
}

/** The operations that are tried beside the n-th heavy thing. */
const operationsBeside = (n: number) =>
  Object.entries(NEIGHBOUR).filter(
    (_, at, all) => inject('matrix') === 'all' || at === n % all.length,
  )

describe.each(Object.keys(HEAVY).map((name, n) => ({ name, n })))(
  'a free account that $name',
  ({ name, n }) => {
    const work = HEAVY[name]!
    const operations = name === 'loads thumbnails' ? THUMBNAILS : OPERATIONS
    let tenants: Tenants
    beforeAll(async () => {
      const free = await newOwner()
      const { jobId } = await tryOn(free.browser)
      await finished(clientOf(free.testKey), jobId)
      tenants = { free, jobId, paying: await newOrganisation(), member: await newOwner() }
    })

    it.each(operationsBeside(n))('does not delay a neighbour: %s', async (_name, operate) => {
      useEngines(scripted('engine', { start: [picture], paid: false }))
      upstream
        .on(PICTURES.model_image_url, () => new Response(jpeg()))
        .on(PICTURES.garment_image_url, () => new Response(png()))
        .on(HOOK, () => new Response())
      let served = 0
      const heavy = Promise.all(
        Array.from({ length: operations }, async () => {
          const { status } = await work(tenants)
          // 401: a wrong password that was checked.
          if (status <= 401) served += 1
        }),
      )
      await operate(tenants)
      const servedBefore = served
      await heavy
      expect(servedBefore).toBeLessThan(operations / 2)
    })
  },
)
