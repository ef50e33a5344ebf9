// The reason of a failed job, as members see it.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { JobFailure } from '../../src/domain/failure.ts'
import { processJob } from '../../src/jobs/processing/process.ts'
import { newOwner, tryOn } from '../support/browser.ts'
import { scripted, useEngines } from '../support/fake-engines.ts'
import { dropMessages, fakePictures, PICTURES } from '../support/live-job.ts'
import { operator } from '../support/world.ts'
import { jobsDb } from '../support/jobs-database.ts'

fakePictures()

/** A live job that fails in this way. */
async function failedJob(failure: Error) {
  dropMessages()
  useEngines(scripted('embedded', { start: [failure], paid: false }))
  const { browser } = await newOwner()
  const { jobId } = await tryOn(browser, { ...PICTURES, mode: 'live' })
  await processJob({ env, jobId })
  return { browser, jobId }
}

/** The page and its fragment that the browser polls, and the reason for staff. */
async function seen({ browser, jobId }: Awaited<ReturnType<typeof failedJob>>) {
  const { html } = await browser.get(`/console/jobs/${jobId}`)
  const live = await browser.get(`/console/jobs/${jobId}/live`)
  const response = await operator.get(`/operator/jobs/${jobId}`)
  const { failure_reason: staff } = await response.json<{ failure_reason: string | null }>()
  return { html, live: live.html, staff }
}

const ownWords = (reason: string) =>
  failedJob(new JobFailure('generation_failed', reason, { audience: 'members' }))

describe('the page of a failed job', () => {
  it('shows the reason under the error', async () => {
    const { html, live, staff } = await seen(await ownWords('The shoulders are not visible.'))
    for (const page of [html, live]) {
      expect(page).toMatch(
        /No result could be generated.*<strong>Reason:<\/strong> The shoulders are not visible\./s,
      )
    }
    expect(staff).toBe('The shoulders are not visible.')
  })

  it('does not show what a provider says, which staff see', async () => {
    const message = 'fashn job: InputValidationError: quota of account 42'
    const { html, live, staff } = await seen(
      await failedJob(new JobFailure('generation_failed', message)),
    )
    for (const page of [html, live]) {
      expect(page).toContain('No result could be generated')
      expect(page).not.toMatch(/Reason:|account 42/)
    }
    expect(staff).toBe(message)
  })

  it('escapes HTML', async () => {
    const markup = '<script>alert("1")</script> & <b>bold</b>'
    const { html, live, staff } = await seen(await ownWords(markup))
    for (const page of [html, live]) {
      expect(page).toContain(
        '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &lt;b&gt;bold',
      )
      expect(page).not.toMatch(/<script>alert|<b>bold/)
    }
    expect(staff).toBe(markup)
  })

  it('shows a long reason up to 300 bytes', async () => {
    const { html, staff } = await seen(await ownWords('long '.repeat(10_000)))
    expect(html).toMatch(/Reason:<\/strong> (long ){59}lo…/)
    expect(staff).toHaveLength(298)
  })

  it('shows only the error when there is no reason', async () => {
    const { html, staff } = await seen(await ownWords(''))
    expect(html).toContain('No result could be generated')
    expect(html).not.toContain('Reason:')
    expect(staff).toBeNull()
  })

  it('shows only the error for a job from before reasons were stored', async () => {
    const job = await ownWords('A reason.')
    await jobsDb(job.jobId)
      .prepare('UPDATE jobs SET failure_reason = NULL, failure_audience = NULL WHERE id = ?')
      .bind(job.jobId)
      .run()
    const { html, staff } = await seen(job)
    expect(html).not.toContain('Reason:')
    expect(staff).toBeNull()
  })

  it('is not found for members of other organisations', async () => {
    const { jobId } = await ownWords('A reason.')
    const { browser } = await newOwner()
    const page = await browser.get(`/console/jobs/${jobId}`)
    expect(page.status).toBe(404)
    expect(page.html).not.toContain('A reason.')
  })
})

describe('the reason', () => {
  it('is deleted with the pictures of the job', async () => {
    const job = await ownWords('The person holds a red bag.')
    await job.browser.post(`/console/jobs/${job.jobId}/delete-pictures`)
    const { html, staff } = await seen(job)
    expect(html).toContain('generation_failed')
    expect(html).not.toContain('red bag')
    expect(staff).toBeNull()
  })

  it('is in the export of the organisation if members may read it', async () => {
    const exported = async ({ browser }: Awaited<ReturnType<typeof failedJob>>) => {
      await browser.get('/console/settings/organisation')
      const { html } = await browser.post('/console/settings/organisation/export')
      const { jobs } = JSON.parse(html) as { jobs: { failure_reason: string | null }[] }
      return jobs.map(({ failure_reason }) => failure_reason)
    }
    expect(await exported(await ownWords('A reason.'))).toEqual(['A reason.'])
    const hosted = await failedJob(new JobFailure('generation_failed', 'fal job: a reason'))
    expect(await exported(hosted)).toEqual([null])
  })
})
