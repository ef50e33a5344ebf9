// Trying the service out by hand: two addresses or two files, in test or live mode.
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
import type { ConsoleApp, ConsoleContext } from '../context.ts'
import { Button, Field, FormError, Notice, PostForm, readForm } from '../components/form.tsx'
import type { FieldErrors, FieldState } from '../components/form.tsx'
import { memberPage } from '../components/layout.tsx'
import { limitUpload } from '../middleware/throttle.tsx'
import { Nonce, submitFromConsole } from '../submit.ts'
import { requestOf } from '../middleware/session.ts'

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

/** Runs before anything parses the form: requireSameOrganisation parses every form of the console. */
export const uploadLimit = bodyLimit({
  maxSize: 2 * MAX_IMAGE_BYTES + MAX_BODY_BYTES,
  onError: (c: ConsoleContext) => {
    const words = 'That was too large. Choose files of at most 10 MB each, and send them again.'
    return playgroundPage(c, { complaints: { '': words } }, 413)
  },
})

export const playground = new Hono<ConsoleApp>()
  .get('/', (c) => playgroundPage(c))
  .post('/', async (c) => {
    const form = await readForm(c, TryOn)
    if (!form.ok) return playgroundPage(c, form)
    const { mode, workspace, nonce } = form.value
    const entered = {
      model_image_url: form.value.model_image_url,
      garment_image_url: form.value.garment_image_url,
      mode,
      workspace,
    }
    const hasFile = [form.value.model_file, form.value.garment_file].some((one) => one?.size)
    const tooMany = hasFile ? await limitUpload(c) : null
    if (tooMany) return tooMany
    const [model, garment] = await Promise.all([
      imageUrl(c, 'model', form.value.model_image_url, form.value.model_file, mode),
      imageUrl(c, 'garment', form.value.garment_image_url, form.value.garment_file, mode),
    ])
    if (!model.ok || !garment.ok) {
      const complaints = {
        ...(!model.ok && model.complaints),
        ...(!garment.ok && garment.complaints),
      }
      return playgroundPage(c, { complaints, entered })
    }
    const submitted = await submitFromConsole(c, {
      mode,
      nonce,
      workspaceId: workspace || undefined,
      modelImageUrl: model.url,
      garmentImageUrl: garment.url,
    })
    if (!submitted.ok) return playgroundPage(c, { complaints: { '': submitted.reason }, entered })
    return c.redirect(`/console/jobs/${submitted.jobId}`, 303)
  })
  .post('/sample', async (c) => {
    const form = await readForm(c, z.object({ nonce: Nonce }))
    if (!form.ok) return c.redirect('/console/playground', 303)
    const submitted = await submitFromConsole(c, {
      mode: 'test',
      nonce: form.value.nonce,
      modelImageUrl: `${baseUrlOf(c)}/static/model.jpg`,
      garmentImageUrl: `${baseUrlOf(c)}/static/garment.jpg`,
    })
    if (!submitted.ok) return playgroundPage(c, { complaints: { '': submitted.reason } })
    return c.redirect(`/console/jobs/${submitted.jobId}`, 303)
  })

type Chosen = { ok: true; url: string } | { ok: false; complaints: FieldErrors }

/** A file goes before an address: choosing one is the later and more deliberate act. */
async function imageUrl(
  c: ConsoleContext,
  role: Role,
  address: string,
  upload: File | undefined,
  mode: (typeof MODES)[number],
): Promise<Chosen> {
  if (upload && upload.size > 0) {
    const url = await storeUpload({
      env: c.env,
      baseUrl: baseUrlOf(c),
      organisationId: c.var.membership.organisation.id,
      role,
      file: upload,
    })
    if (url) return { ok: true, url }
    return {
      ok: false,
      complaints: { [`${role}_file`]: 'Choose a JPEG, PNG or WebP of at most 10 MB.' },
    }
  }
  const field = `${role}_image_url` as const
  if (!address) return { ok: false, complaints: { [field]: 'Give an address or choose a file.' } }
  const schema = tryOnBody(urlPolicyOf(c), mode).shape[field]
  const result = schema.safeParse(address)
  if (result.success) return { ok: true, url: result.data }
  const problem = result.error.issues[0]?.message ?? 'is not valid'
  return { ok: false, complaints: { [field]: `The address ${problem}.` } }
}

async function playgroundPage(
  c: ConsoleContext,
  state: FieldState = {},
  status: 200 | 413 | 422 = state.complaints ? 422 : 200,
) {
  const all = await listWorkspaces(requestOf(c))
  const workspaces = all.filter(({ status }) => status === 'active')
  return memberPage(
    c,
    { title: 'Playground', status },
    <>
      <h1>Playground</h1>
      <p>Submit a job by hand and watch it happen.</p>
      {workspaces.length === 0 && (
        <Notice kind="bad">
          All workspaces are archived, so there is none that a job could go to. Restore or create
          one under <a href="/console/settings/workspaces">Workspaces</a>.
        </Notice>
      )}
      <PostForm
        action="/console/playground"
        enctype="multipart/form-data"
        novalidate
        class="playground"
      >
        <FormError state={state} />
        <input type="hidden" name="nonce" value={crypto.randomUUID()} />
        <div class="pair">
          <ImageChoice role="model" title="Model photo" state={state} />
          <ImageChoice role="garment" title="Garment photo" state={state} />
        </div>
        <fieldset class="choices inline">
          <legend>Mode</legend>
          <label>
            <input
              type="radio"
              name="mode"
              value="test"
              checked={state.entered?.['mode'] !== 'live' || undefined}
            />
            <span>Test</span> <small>a placeholder picture, free</small>
          </label>
          <label>
            <input
              type="radio"
              name="mode"
              value="live"
              checked={state.entered?.['mode'] === 'live' || undefined}
            />
            <span>Live</span> <small>a real picture, 1 credit</small>
          </label>
        </fieldset>
        <div class="field">
          <label for="workspace">Workspace</label>
          <select id="workspace" name="workspace">
            {workspaces.map(({ id, name }) => (
              <option value={id} selected={state.entered?.['workspace'] === id || undefined}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <Button disabled={workspaces.length === 0}>Try it on</Button>
      </PostForm>
    </>,
  )
}

const ImageChoice = ({ role, title, state }: { role: Role; title: string; state: FieldState }) => (
  <fieldset class="card">
    <legend>{title}</legend>
    <Field
      name={`${role}_image_url`}
      label="Address"
      type="url"
      placeholder={`https://shop.example/${role}.jpg`}
      required={false}
      state={state}
    />
    <Field
      name={`${role}_file`}
      label="Or a file"
      type="file"
      accept="image/jpeg,image/png,image/webp"
      maxBytes={MAX_IMAGE_BYTES}
      hint="JPEG, PNG or WebP, at most 10 MB. Uploads are deleted after a day."
      required={false}
      state={state}
    />
  </fieldset>
)
