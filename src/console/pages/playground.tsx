// Submits a job from a form, with image URLs or uploads, in test or live mode.
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { listWorkspaces } from '../../accounts/workspaces.ts'
import type { Role } from '../../images/fetch.ts'
import { storeUpload } from '../../jobs/upload.ts'
import { MODES } from '../../domain/job.ts'
import { MAX_BODY_BYTES, MAX_IMAGE_BYTES, MAX_URL_LENGTH } from '../../domain/limits.ts'
import { baseUrlOf, urlPolicyOf } from '../../http/base-url.ts'
import { tryOnBody } from '../../http/try-on-body.ts'
import { organisationStub } from '../../organisation/stub.ts'
import { uploadProblem } from '../../signing/signed-url.ts'
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { Button, Field, FormError, PostForm, ModeField } from '../components/form.tsx'
import { Notice } from '../components/notice.tsx'
import { rejectedForm } from '../error-messages.ts'
import { readForm } from '../read-form.ts'
import type { FieldErrors, FormState } from '../read-form.ts'
import { memberPage } from '../components/layout.tsx'
import { limitUpload } from '../middleware/throttle.tsx'
import { scopeOf } from '../middleware/session.ts'
import { Nonce, submitFromConsole } from '../submit-job.ts'
import { Link } from '../components/link.tsx'
import { redirectTo } from '../organisation-path.ts'

const text = z.string().trim().max(MAX_URL_LENGTH).default('')
const file = z.instanceof(File).optional().catch(undefined)

const TryOn = z.object({
  model_image_url: text,
  model_file: file,
  garment_image_url: text,
  garment_file: file,
  mode: z.enum(MODES, 'Choose a mode.'),
  workspace: z.string().max(255),
  nonce: Nonce,
})

export const uploadLimit = bodyLimit({
  maxSize: 2 * MAX_IMAGE_BYTES + MAX_BODY_BYTES,
  onError: (c: ConsoleContext) => {
    const message = 'The upload is too large. Choose files of at most 10 MB each.'
    return playgroundPage(c, { errors: { '': message } }, 413)
  },
})

export const playground = new Hono<ConsoleApp>()
  .get('/', (c) => playgroundPage(c))
  .post('/', async (c) => {
    const form = await readForm(c, TryOn)
    if (!form.ok) return playgroundPage(c, form)
    const { mode, workspace, nonce } = form.data
    const values = {
      model_image_url: form.data.model_image_url,
      garment_image_url: form.data.garment_image_url,
      mode,
      workspace,
    }
    const uploadBytes = [form.data.model_file, form.data.garment_file]
      .map((file) => file?.size ?? 0)
      .reduce((sum, size) => sum + size)
    if (uploadBytes > 0) {
      const tooMany = await limitUpload(c)
      if (tooMany) return tooMany
      const caller = { organisationId: c.var.membership.organisation.id, mode, keyHash: null }
      const admitted = await organisationStub(c.env, caller.organisationId).admitUpload(
        caller,
        uploadBytes,
      )
      if (!admitted.ok) return playgroundPage(c, { ...rejectedForm(admitted.rejection), values })
    }
    const [model, garment] = await Promise.all([
      imageUrl(c, 'model', form.data.model_image_url, form.data.model_file, mode),
      imageUrl(c, 'garment', form.data.garment_image_url, form.data.garment_file, mode),
    ])
    if (!model.ok || !garment.ok) {
      const errors = {
        ...(!model.ok && model.errors),
        ...(!garment.ok && garment.errors),
      }
      return playgroundPage(c, { errors, values })
    }
    const submitted = await submitFromConsole(c, {
      mode,
      nonce,
      workspaceId: workspace || undefined,
      modelImageUrl: model.url,
      garmentImageUrl: garment.url,
    })
    if (!submitted.ok) return playgroundPage(c, { ...submitted.state, values })
    return redirectTo(c, `/jobs/${submitted.jobId}`)
  })
  .post('/sample', async (c) => {
    const form = await readForm(c, z.object({ nonce: Nonce }))
    if (!form.ok) return redirectTo(c, '/playground')
    const submitted = await submitFromConsole(c, {
      mode: 'test',
      nonce: form.data.nonce,
      modelImageUrl: `${baseUrlOf(c)}/static/model.jpg`,
      garmentImageUrl: `${baseUrlOf(c)}/static/garment.jpg`,
    })
    if (!submitted.ok) return playgroundPage(c, submitted.state)
    return redirectTo(c, `/jobs/${submitted.jobId}`)
  })

type ImageUrl = { ok: true; url: string } | { ok: false; errors: FieldErrors }

/** Prefers the file if both a file and a URL are given. */
async function imageUrl(
  c: ConsoleContext,
  role: Role,
  enteredUrl: string,
  upload: File | undefined,
  mode: (typeof MODES)[number],
): Promise<ImageUrl> {
  const owner = {
    baseUrl: baseUrlOf(c),
    organisationId: c.var.membership.organisation.id,
  }
  if (upload && upload.size > 0) {
    if (upload.size <= MAX_IMAGE_BYTES) {
      const bytes = new Uint8Array(await upload.arrayBuffer())
      const stored = await storeUpload({ env: c.env, ...owner, bytes })
      if ('url' in stored) return { ok: true, url: stored.url }
    }
    return {
      ok: false,
      errors: { [`${role}_file`]: 'Choose a JPEG, PNG or WebP file of at most 10 MB.' },
    }
  }
  const field = `${role}_image_url` as const
  if (!enteredUrl) return { ok: false, errors: { [field]: 'Enter a URL or choose a file.' } }
  const schema = tryOnBody(urlPolicyOf(c), mode).shape[field]
  const result = schema.safeParse(enteredUrl)
  const problem = result.success
    ? (uploadProblem(c.env, owner, result.data)?.message ?? null)
    : (result.error.issues[0]?.message ?? 'is not valid')
  if (problem === null) return { ok: true, url: enteredUrl }
  return { ok: false, errors: { [field]: `The URL ${problem}.` } }
}

async function playgroundPage(
  c: ConsoleContext,
  state: FormState = {},
  status: 200 | 413 | 422 = state.errors ? 422 : 200,
) {
  const all = await listWorkspaces(scopeOf(c))
  const workspaces = all.filter(({ status }) => status === 'active')
  return memberPage(
    c,
    { title: 'Playground', status },
    <>
      <h1>Playground</h1>
      <p>Submit a job and follow its progress.</p>
      {workspaces.length === 0 && (
        <Notice kind="bad">
          All workspaces are archived. To submit jobs, restore or create a workspace under{' '}
          <Link to="/settings/workspaces">Workspaces</Link>.
        </Notice>
      )}
      <PostForm to="/playground" enctype="multipart/form-data" novalidate>
        <FormError state={state} />
        <input type="hidden" name="nonce" value={crypto.randomUUID()} />
        <div class="columns">
          <ImageChoice role="model" title="Model image" state={state} />
          <ImageChoice role="garment" title="Garment image" state={state} />
        </div>
        <ModeField
          state={state}
          hints={{ test: 'Placeholder result, free', live: 'Real result, 1 credit' }}
        />
        <div class="field">
          <label for="workspace">Workspace</label>
          <select id="workspace" name="workspace">
            {workspaces.map(({ id, name }) => (
              <option value={id} selected={state.values?.['workspace'] === id || undefined}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <Button disabled={workspaces.length === 0}>Submit job</Button>
      </PostForm>
    </>,
  )
}

const ImageChoice = ({ role, title, state }: { role: Role; title: string; state: FormState }) => (
  <fieldset class="card">
    <legend>{title}</legend>
    <Field
      name={`${role}_image_url`}
      label="URL"
      type="url"
      placeholder={`https://shop.example/${role}.jpg`}
      required={false}
      state={state}
    />
    <Field
      name={`${role}_file`}
      label="Or upload a file"
      type="file"
      accept="image/jpeg,image/png,image/webp"
      maxBytes={MAX_IMAGE_BYTES}
      hint="JPEG, PNG or WebP, at most 10 MB. Uploads are deleted after about one day."
      required={false}
      state={state}
    />
  </fieldset>
)
