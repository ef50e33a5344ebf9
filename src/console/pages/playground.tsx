// Submits a job from a form, with image URLs, uploads or sample pictures, in test or live mode.
import { z } from 'zod'
import { requirePermission } from '../../organisations/authorisation.ts'
import { listWorkspaces } from '../../organisations/workspaces.ts'
import { findJobs } from '../../jobs/reports/job-lists.ts'
import { receiveUpload, uploadBytesOf, type RejectedUpload } from '../../jobs/receive-upload.ts'
import { MODES, type Mode } from '../../domain/job.ts'
import { SAMPLES } from '../../domain/samples.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { JobRow } from '../../platform/db/schema.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { CodeSnippets } from '../components/copyable-text.tsx'
import { creditStatusOf } from '../components/credit-banner.tsx'
import { memberPage } from '../components/layout.tsx'
import {
  playgroundForm,
  playgroundHistory,
  playgroundResult,
  recentJobIds,
  rememberJob,
} from '../components/playground.tsx'
import { rejectionMessage, UPLOAD_MESSAGES } from '../error-messages.ts'
import { chosenMode } from '../cookies.ts'
import { createApp, scopeOf, pathOf, type ConsoleContext } from '../console-context.ts'
import { redirectTo } from '../form-notices.ts'
import {
  chosenUrl,
  ownerOf,
  PictureFields,
  pictureProblem,
  ROLES,
  sampleValues,
  valuesOfJob,
  type PictureValues,
} from '../playground-pictures.ts'
import { idParameter, pageWith, parameter, readForm, textsOf } from '../forms.ts'
import { KEY_FROM_ENVIRONMENT, tryOnSnippets } from '../snippets.ts'
import { Nonce, submitFromConsole } from '../submit-job.ts'

const TryOn = PictureFields.extend({
  mode: z.enum(MODES, 'Choose a mode.'),
  workspace: z.string().max(255),
  nonce: Nonce,
})

const sampleFile = parameter(z.enum(SAMPLES.map(({ file }) => file)))

const Sample = z.object({
  nonce: Nonce,
  mode: z.enum(MODES).default('test'),
  model: sampleFile,
  garment: sampleFile,
})

const Query = z.object({ model: sampleFile, garment: sampleFile, job: idParameter('job') })

export const playground = createApp()
  .get('/', async (c) => {
    const { job: jobId, ...samples } = Query.parse(c.req.query())
    const [job] = jobId ? await findJobs({ ...scopeOf(c), jobIds: [jobId] }) : []
    if (!job) return pageWith(c, playgroundPage, { values: sampleValues(c, samples) })
    const values = { ...valuesOfJob(c, job), mode: job.mode, workspace: job.workspaceId }
    return pageWith(c, () => playgroundPage(c, job), { values })
  })
  .post('/', async (c) => {
    const { nonce, ...values } = await readForm(c, TryOn, playgroundPage)
    const { mode } = values
    const errors: Record<string, string> = {}
    for (const role of ROLES) {
      const problem = pictureProblem(c, { role, url: chosenUrl(values, role), mode })
      if (problem !== null) errors[`${role}_image_url`] = problem
    }
    if (Object.keys(errors).length > 0) return pageWith(c, playgroundPage, { errors, values })
    return submit(c, nonce, values)
  })
  // One click on the pages of the first hour, with a sample pair.
  .post('/sample', async (c) => {
    const form = await readForm(c, Sample, () => redirectTo(c, '/playground'))
    const { nonce, mode, ...samples } = form
    // After a first live picture, the console shows live jobs.
    if (mode === 'live') chosenMode.set(c, mode)
    return submit(c, nonce, { ...sampleValues(c, samples), mode })
  })
  // playground.js uploads a file as soon as it is chosen. The body is the file.
  .post('/uploads', async (c) => {
    await requirePermission(scopeOf(c), 'develop')
    const { organisationId } = ownerOf(c)
    const caller = { organisationId, mode: c.var.mode, keyHash: null }
    const organisation = organisationStub(c.env, organisationId)
    const admitted = await organisation.admitUpload(caller, uploadBytesOf(c.req.raw))
    if (!admitted.ok) return c.json({ error: rejectionMessage(admitted) }, 422)
    const upload = await receiveUpload({ env: c.env, ...ownerOf(c), request: c.req.raw })
    if ('problem' in upload) {
      return c.json({ error: UPLOAD_MESSAGES[upload.problem] }, statusOf(upload))
    }
    return c.json({ url: upload.url }, 201)
  })
  // playground.js updates the code with it. A form, because the URLs of uploads are secrets.
  .post('/code', async (c) => {
    const page = () => c.html(codeOf(c, c.var.form?.values ?? {}))
    return c.html(codeOf(c, textsOf(await readForm(c, TryOn.partial(), page))))
  })

/** Shows the job, or the form again with its values. */
async function submit(
  c: ConsoleContext,
  nonce: string,
  values: Partial<PictureValues> & { mode: Mode; workspace?: string },
) {
  const page = () => pageWith(c, playgroundPage, { ...c.var.form, values })
  const jobId = await submitFromConsole(c, page, {
    mode: values.mode,
    nonce,
    workspaceId: values.workspace || undefined,
    modelImageUrl: chosenUrl(values, 'model'),
    garmentImageUrl: chosenUrl(values, 'garment'),
  })
  rememberJob(c, jobId)
  return redirectTo(c, `/jobs/${jobId}`)
}

const statusOf = ({ problem }: RejectedUpload) =>
  problem === 'too_large' ? 413 : problem === 'busy' ? 429 : 422

async function playgroundPage(c: ConsoleContext, job?: JobRow) {
  const [all, recent, credits] = await Promise.all([
    listWorkspaces(scopeOf(c)),
    findJobs({ ...scopeOf(c), jobIds: recentJobIds(c) }),
    creditStatusOf(c),
  ])
  const workspaces = all.filter(({ status }) => status === 'active')
  const { form } = c.var
  const values: Record<string, string> = { mode: c.var.mode, ...form?.values }
  return memberPage(
    { c, title: 'Playground', credits, script: '/static/playground.js' },
    <>
      <p class="muted">Choose a person and a garment, then submit a job to see the result.</p>
      <div class="playground">
        {playgroundForm(c, { ...form, values }, workspaces, credits)}
        {playgroundResult(c, job)}
      </div>
      <details class="card code" data-code-for={pathOf(c, '/playground/code')}>
        <summary>Use these pictures in your code</summary>
        <p>
          Set <code>TRY_ON_API_KEY</code> to one of your{' '}
          <a href={pathOf(c, '/settings/api-keys')}>API keys</a>. A test key returns a placeholder,
          a live key the real result. More in the <a href="/docs/quick-start">quick start</a>.
        </p>
        {codeOf(c, values)}
      </details>
      {playgroundHistory(c, recent, job)}
    </>,
  )
}

/** Code that submits the chosen pictures, or the first sample pair. */
function codeOf(c: ConsoleContext, values: Partial<PictureValues> & { workspace?: string }) {
  const samples = sampleValues(c)
  const fields = {
    model_image_url: chosenUrl(values, 'model') || samples.model_image_url,
    garment_image_url: chosenUrl(values, 'garment') || samples.garment_image_url,
    ...(values.workspace && { workspace_id: values.workspace }),
  }
  const request = { baseUrl: baseUrlOf(c), apiKey: KEY_FROM_ENVIRONMENT, fields }
  return <CodeSnippets snippets={tryOnSnippets(request)} id="code" />
}
