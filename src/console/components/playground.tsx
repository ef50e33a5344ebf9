// The form of the playground, the result, and the latest jobs. playground.js adds previews, uploads, drag and drop, and paste.
import { getCookie, setCookie } from 'hono/cookie'
import type { WorkspaceRow, JobRow } from '../../platform/db/schema.ts'
import { MAX_IMAGE_BYTES } from '../../domain/limits.ts'
import {
  SAMPLE_GARMENTS,
  SAMPLE_PEOPLE,
  sampleThumbnail,
  sampleUrl,
  type Sample,
} from '../../domain/samples.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import type { CreditStatus } from '../../credits/rpc.ts'
import type { Role } from '../../jobs/processing/fetch-image.ts'
import { previewUrl } from '../playground-pictures.ts'
import { Button, Field, PostForm, Select, useFormState } from './form.tsx'
import { ModeField } from './radio-cards.tsx'
import { Link, formatCount, Notice, ModeBadge, StatusBadge, Timestamp } from './text.tsx'
import { isId } from '../../platform/ids.ts'
import { pathOf, type ConsoleContext, type FormState } from '../console-context.ts'
import { cookieOptions } from '../cookies.ts'

/** @param credits null if their status is unknown */
export const playgroundForm = (
  c: ConsoleContext,
  state: FormState,
  workspaces: WorkspaceRow[],
  credits: CreditStatus | null,
) => (
  <PostForm to="/playground" fields={{ nonce: crypto.randomUUID() }} state={state} data-playground>
    {workspaces.length === 0 && (
      <Notice kind="bad">
        All workspaces are archived. To submit jobs, restore or create a workspace under{' '}
        <Link to="/settings/workspaces">Workspaces</Link>.
      </Notice>
    )}
    <div class="columns">
      <Picture c={c} role="model" />
      <Picture c={c} role="garment" />
    </div>
    <ModeField
      hints={{
        test: 'Placeholder result, free',
        live:
          credits === null
            ? 'Real result, 1 credit'
            : `Real result, 1 credit (${formatCount(Math.max(0, credits.balance))} left)`,
      }}
    />
    <div class="submit">
      <Select
        name="workspace"
        label="Workspace"
        options={workspaces.map(({ id, name }) => [id, name])}
      />
      <Button disabled={workspaces.length === 0}>Submit job</Button>
    </div>
  </PostForm>
)

const Picture = ({ c, role }: { c: ConsoleContext; role: Role }) => {
  const [title, samples] =
    role === 'model' ? ['Person', SAMPLE_PEOPLE] : ['Garment', SAMPLE_GARMENTS]
  const { values = {} } = useFormState()
  const url = values[`${role}_image_url`] ?? ''
  const upload = (!url && values[`${role}_upload`]) || ''
  const uploadName = upload && (values[`${role}_upload_name`] || 'Uploaded picture')
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
      <p class="upload cut" data-upload-status role="status">
        {uploadName}
      </p>
      <input type="hidden" name={`${role}_upload`} value={upload} />
      <input type="hidden" name={`${role}_upload_name`} value={uploadName} />
      <ul class="samples" aria-label={`Sample pictures: ${title.toLowerCase()}`}>
        {samples.map((sample) => (
          <li>{sampleLink(c, role, sample, values)}</li>
        ))}
      </ul>
      <Field
        name={`${role}_image_url`}
        label="URL"
        type="url"
        placeholder={`https://shop.example/${role}.jpg`}
        required={false}
      />
      <FileField id={`${role}_file`} />
    </fieldset>
  )
}

/** playground.js shows it and sends the file. The form does not contain it. */
const FileField = ({ id }: { id: string }) => (
  <div class="field" data-file hidden>
    <label for={id}>
      Or upload a file<span class="muted"> (optional)</span>
    </label>
    <input
      id={id}
      type="file"
      accept="image/jpeg,image/png,image/webp"
      data-max-bytes={MAX_IMAGE_BYTES}
      aria-describedby={`${id}-hint`}
    />
    <small id={`${id}-hint`}>JPEG, PNG or WebP, at most 10 MB. Deleted after about one day.</small>
  </div>
)

/** Without JavaScript, the link keeps the sample of the other picture only. */
function sampleLink(
  c: ConsoleContext,
  role: Role,
  { file, title }: Sample,
  values: Record<string, string>,
) {
  const url = sampleUrl(baseUrlOf(c), file)
  const other = role === 'model' ? 'garment' : 'model'
  const otherUrl = values[`${other}_image_url`] ?? ''
  const query = new URLSearchParams({ [role]: file, [other]: otherUrl.split('/').at(-1) ?? '' })
  return (
    <Link
      to={`/playground?${query}`}
      aria-current={values[`${role}_image_url`] === url ? 'true' : undefined}
      aria-label={`Use the sample: ${title}`}
      data-sample={url}
    >
      <img src={sampleThumbnail(file)} alt="" width="72" height="96" />
    </Link>
  )
}

/** @param job whose state console.js follows */
export const playgroundResult = (c: ConsoleContext, job: JobRow | undefined) => (
  <section class="card result" aria-labelledby="result">
    <h2 id="result">Result</h2>
    <div data-run-result>
      {job ? (
        <section data-live={pathOf(c, `/jobs/${job.id}/live`)} aria-label="Job" />
      ) : (
        <div class="frame">
          <span>The result appears here</span>
        </div>
      )}
    </div>
    <p data-job-link hidden={!job}>
      <Link to={`/jobs/${job?.id ?? ''}`}>Open the job</Link>
    </p>
  </section>
)

/**
 * The strip of the latest jobs. A click loads the pictures of a job into the form.
 * @param current the job whose pictures are in the form
 */
export const playgroundHistory = (c: ConsoleContext, jobs: JobRow[], current?: JobRow) => (
  <section data-history aria-labelledby="history">
    {jobs.length > 0 && (
      <>
        <h2 id="history">Your latest jobs here</h2>
        <ul class="history">
          {jobs.map((job) => (
            <li>
              <Link
                to={`/playground?job=${job.id}`}
                aria-current={job.id === current?.id ? 'true' : undefined}
              >
                <span class="frame">{thumbnailOf(c, job)}</span>
                <Timestamp at={job.createdAt} />
                <ModeBadge mode={job.mode} />
              </Link>
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
)

/** The result of a live job; of other jobs, the garment if it is a sample, or else the status. */
function thumbnailOf(c: ConsoleContext, job: JobRow) {
  const isOf = ({ file }: Sample) => job.garmentImageUrl === sampleUrl(baseUrlOf(c), file)
  const sample = SAMPLE_GARMENTS.find(isOf)
  const hasResult = job.mode === 'live' && job.status === 'completed' && job.outputFormat
  const source = hasResult
    ? pathOf(c, `/jobs/${job.id}/thumbnail`)
    : sample && sampleThumbnail(sample.file)
  if (!source) return <StatusBadge status={job.status} />
  return <img src={source} alt={`Job ${job.status}`} loading="lazy" />
}

const COOKIE = 'try-on.playground'
const MAX_JOBS = 10
/** As long as the pictures of jobs are usually stored. */
const MAX_AGE_SECONDS = 30 * 24 * 60 * 60

/** The newest first. */
export const recentJobIds = (c: ConsoleContext): string[] =>
  (getCookie(c, COOKIE) ?? '')
    .split('.')
    .filter((id) => isId('job', id))
    .slice(0, MAX_JOBS)

/** Only for requests to the playground: others do not send the cookie, and would replace the history. */
export function rememberJob(c: ConsoleContext, jobId: string): void {
  const jobIds = new Set([jobId, ...recentJobIds(c)])
  const options = cookieOptions(c, MAX_AGE_SECONDS, pathOf(c, '/playground'))
  setCookie(c, COOKIE, [...jobIds].slice(0, MAX_JOBS).join('.'), options)
}
