// Which organisations the embedded engine serves first.
import { expect, it, vi } from 'vitest'
import { compositor } from '../../src/engines/compositor.ts'
import { fakePictures, PICTURES } from '../support/live-job.ts'
import { insertObjects } from '../support/objects.ts'
import { endedJob } from '../support/retention.ts'
import { newOrganisation, operator } from '../support/world.ts'

fakePictures()

async function isPayingOf(organisation: Awaited<ReturnType<typeof newOrganisation>>) {
  const start = vi.spyOn(compositor, 'start')
  await endedJob(organisation, 'live', PICTURES)
  return start.mock.lastCall?.[0]
}

it('is unpaid work with free credits, and paid work on a plan with a fee', async () => {
  const organisation = await newOrganisation()
  const { orgId: organisationId } = organisation
  expect(await isPayingOf(organisation)).toMatchObject({ organisationId, isPaying: false })
  await operator.patch(`/operator/organisations/${organisationId}`, { plan: 'growth' })
  expect(await isPayingOf(organisation)).toMatchObject({ organisationId, isPaying: true })
})

it('is paid work after a payment', async () => {
  const organisation = await newOrganisation()
  await insertObjects(organisation.orgId)
  expect(await isPayingOf(organisation)).toMatchObject({ isPaying: true })
})
