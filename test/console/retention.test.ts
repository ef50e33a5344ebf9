// The console's part in deleting pictures: the button on a job's page and the retention setting.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { clientOf } from '../support/client.ts'
import { count, picturesOf } from '../support/retention.ts'
import { newFounder, tryOn } from '../support/visitor.ts'
import { DELAYED, finished } from '../support/world.ts'

const PAGE = '/console/settings/data-retention'

const auditOf = async (organisationId: string, action: string) =>
  (
    await env.DB.prepare(
      'SELECT actor_type, actor_email, target, details FROM audit_log WHERE organisation_id = ? AND action = ?',
    )
      .bind(organisationId, action)
      .all()
  ).results

describe('deleting pictures on a job’s page', () => {
  it('asks first, deletes, and says so in their place', async () => {
    const { visitor, email, testKey, organisationId } = await newFounder()
    const { jobId } = await tryOn(visitor)
    await finished(clientOf(testKey), jobId)
    const page = await visitor.get(`/console/jobs/${jobId}`)
    expect(page.html).toContain('Delete pictures')
    expect(page.html).toContain('deleted for good')
    const after = await visitor.post(`/console/jobs/${jobId}/delete-pictures`)
    expect([after.status, after.path]).toEqual([200, `/console/jobs/${jobId}`])
    expect(after.html).not.toContain('Delete pictures')
    expect(after.html).not.toContain('<img src="http')
    expect(after.html.match(/<div class="frame">deleted<\/div>/g)).toHaveLength(3)
    expect(await picturesOf(jobId)).toEqual([])
    expect(await auditOf(organisationId, 'job.output_deleted')).toEqual([
      { actor_type: 'user', actor_email: email, target: jobId, details: null },
    ])
  })

  it('is not offered while the job runs, and not done', async () => {
    const { visitor } = await newFounder()
    const { jobId } = await tryOn(visitor, DELAYED)
    expect((await visitor.get(`/console/jobs/${jobId}`)).html).not.toContain('Delete pictures')
    const page = await visitor.post(`/console/jobs/${jobId}/delete-pictures`)
    expect(page.path).toBe(`/console/jobs/${jobId}`)
    expect(await count('jobs', 'id = ? AND model_image_url IS NOT NULL', jobId)).toBe(1)
  })

  it('is not possible for another organisation', async () => {
    const [mine, theirs] = [await newFounder(), await newFounder()]
    const { jobId } = await tryOn(theirs.visitor)
    await finished(clientOf(theirs.testKey), jobId)
    const page = await mine.visitor.post(`/console/jobs/${jobId}/delete-pictures`)
    expect(page.status).toBe(404)
    expect(await picturesOf(jobId)).toHaveLength(1)
  })
})

describe('the data retention page', () => {
  it('lets an owner choose the days, and records it', async () => {
    const { visitor, organisationId } = await newFounder()
    expect((await visitor.get(PAGE)).html).toContain('value="30"')
    const page = await visitor.post(PAGE, { days: '7' })
    expect([page.status, page.path]).toEqual([200, `${PAGE}?saved=1`])
    expect(page.html).toContain('value="7"')
    expect(await auditOf(organisationId, 'organisation.updated')).toEqual([
      expect.objectContaining({
        target: organisationId,
        details: '{"output_retention_days":7}',
      }),
    ])
  })

  it.each(['0', '366', '1.5', 'x', ''])('refuses "%s" beside the field', async (days) => {
    const { visitor } = await newFounder()
    const page = await visitor.post(PAGE, { days })
    expect(page.status).toBe(422)
    expect(page.html).toContain('Enter 1 to 365 whole days.')
  })

  it('lets a member read and not change it', async () => {
    const { visitor, organisationId } = await newFounder()
    await env.DB.prepare("UPDATE members SET role = 'member' WHERE organisation_id = ?")
      .bind(organisationId)
      .run()
    const page = await visitor.get(PAGE)
    expect(page.html).toContain('Pictures are stored for 30 days')
    expect(page.html).not.toContain('name="days"')
    expect((await visitor.post(PAGE, { days: '7' })).status).toBe(404)
  })
})
