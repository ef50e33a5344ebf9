// The form of the playground. playground.js adds previews, uploads, drag and drop, and paste.
import type { WorkspaceRow } from '../../db/schema.ts'
import { MAX_IMAGE_BYTES } from '../../domain/limits.ts'
import { SAMPLE_GARMENTS, SAMPLE_PEOPLE, sampleThumbnail, sampleUrl } from '../../domain/samples.ts'
import type { Sample } from '../../domain/samples.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { Role } from '../../images/fetch.ts'
import type { ConsoleContext } from '../context.ts'
import { previewUrl } from '../playground-pictures.ts'
import type { FormState } from '../read-form.ts'
import { Button, Field, FormError, ModeField, PostForm } from './form.tsx'
import { Link } from './link.tsx'
import { Notice } from './notice.tsx'

interface FormProps {
  c: ConsoleContext
  state: FormState
  workspaces: WorkspaceRow[]
  /** The credit balance; null if it is unknown. */
  balance: number | null
}

export const PlaygroundForm = ({ c, state, workspaces, balance }: FormProps) => (
  <PostForm to="/playground" enctype="multipart/form-data" novalidate data-playground>
    <FormError state={state} />
    {workspaces.length === 0 && (
      <Notice kind="bad">
        All workspaces are archived. To submit jobs, restore or create a workspace under{' '}
        <Link to="/settings/workspaces">Workspaces</Link>.
      </Notice>
    )}
    <input type="hidden" name="nonce" value={crypto.randomUUID()} />
    <div class="columns">
      <Picture c={c} role="model" title="Person" samples={SAMPLE_PEOPLE} state={state} />
      <Picture c={c} role="garment" title="Garment" samples={SAMPLE_GARMENTS} state={state} />
    </div>
    <ModeField
      state={state}
      hints={{
        test: 'Placeholder result, free',
        live:
          balance === null
            ? 'Real result, 1 credit'
            : `Real result, 1 credit (${Math.max(0, balance).toLocaleString('en')} left)`,
      }}
    />
    <div class="submit">
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
    </div>
  </PostForm>
)

interface PictureProps {
  c: ConsoleContext
  role: Role
  title: string
  samples: readonly Sample[]
  state: FormState
}

const Picture = ({ c, role, title, samples, state }: PictureProps) => {
  const url = state.values?.[`${role}_image_url`] ?? ''
  const upload = (!url && state.values?.[`${role}_upload`]) || ''
  const uploadName = upload && (state.values?.[`${role}_upload_name`] || 'Uploaded picture')
  const preview = previewUrl(c, url || upload)
  return (
    <fieldset class="card picture" data-picture={role}>
      <legend>{title}</legend>
      <div class="frame" data-frame>
        {preview ? (
          <img src={preview} alt={`${title}, chosen picture`} referrerpolicy="no-referrer" />
        ) : (
          <span>{url || upload ? 'No preview' : 'No picture chosen'}</span>
        )}
      </div>
      <p class="upload" data-upload-status role="status">
        {uploadName}
      </p>
      <input type="hidden" name={`${role}_upload`} value={upload} />
      <input type="hidden" name={`${role}_upload_name`} value={uploadName} />
      <ul class="samples" aria-label={`Sample pictures: ${title.toLowerCase()}`}>
        {samples.map(({ file, title: sampleTitle }) => (
          <li>
            <SampleLink c={c} role={role} file={file} title={sampleTitle} state={state} />
          </li>
        ))}
      </ul>
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
        hint="JPEG, PNG or WebP, at most 10 MB. Deleted after about one day."
        required={false}
        state={state}
      />
    </fieldset>
  )
}

/** Without JavaScript, the link keeps the sample of the other picture only. */
const SampleLink = ({
  c,
  role,
  file,
  title,
  state,
}: Pick<PictureProps, 'c' | 'role' | 'title' | 'state'> & { file: string }) => {
  const url = sampleUrl(baseUrlOf(c), file)
  const other = role === 'model' ? 'garment' : 'model'
  const otherUrl = state.values?.[`${other}_image_url`] ?? ''
  const query = new URLSearchParams({ [role]: file, [other]: otherUrl.split('/').at(-1) ?? '' })
  const isChosen = state.values?.[`${role}_image_url`] === url
  return (
    <Link
      to={`/playground?${query}`}
      aria-current={isChosen ? 'true' : undefined}
      aria-label={`Use the sample: ${title}`}
      data-sample={url}
    >
      <img src={sampleThumbnail(file)} alt="" width="72" height="96" />
    </Link>
  )
}
