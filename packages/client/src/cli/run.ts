// try-on run and try-on upload.
import { TimeoutError } from '../index.ts'
import type { Job, TryOnClient } from '../index.ts'
import type { Command, Context } from './command.ts'
import { CliError, EXIT, InterruptedError } from './errors.ts'
import { isUrl, outputTarget, uploadFile } from './images.ts'
import { printable } from './output.ts'
import { finish, TIMEOUT_OPTION, timeoutSecondsOf, waitForJob } from './wait.ts'
import { connect } from './settings.ts'

export const run: Command = {
  name: 'run',
  summary: 'Create a picture of the model wearing the garment, and download it.',
  details: `
Uploads local files, submits a job, waits for its end and downloads the picture. An existing file
is replaced. With --json, prints {"job": …, "path": …}, also when the job failed.`,
  args: [
    { name: 'model', isFile: true, summary: 'Photo of a person: file or URL. JPEG, PNG or WebP.' },
    { name: 'garment', isFile: true, summary: 'Photo of a garment: file or URL.' },
  ],
  options: [
    {
      name: 'output',
      short: 'o',
      value: 'FILE',
      isFile: true,
      summary: 'File or folder for the picture. Default: <job_id>.<ext>.',
    },
    { name: 'workspace', value: 'ID', summary: 'Workspace of the job.' },
    { name: 'webhook-url', value: 'URL', summary: 'Receives the result as a webhook.' },
    TIMEOUT_OPTION,
  ],
  examples: [
    'try-on run model.jpg garment.png -o out.jpg',
    'try-on run https://shop.example/model.jpg garment.png --json',
  ],
  async run(context) {
    const { args, options, output, signal } = context
    const [model = '', garment = ''] = args
    const timeoutSeconds = timeoutSecondsOf(options)
    const target = await outputTarget(options.text('output'))
    const session = await connect(context)
    const { client } = session
    const progress = output.progress()
    let job: Job
    try {
      if (!isUrl(model) || !isUrl(garment)) progress.update('uploading')
      const [modelUrl, garmentUrl] = await Promise.all([
        urlOf(client, model, signal),
        urlOf(client, garment, signal),
      ])
      progress.update('submitting')
      const submitted = await submit(context, client, modelUrl, garmentUrl)
      progress.update(`${submitted.job_id} ${submitted.status}`)
      job = await waitForJob(context, client, submitted.job_id, timeoutSeconds, progress)
    } finally {
      progress.stop()
    }
    await finish(context, session, job, target, (path) => ({ job, path }))
  },
}

export const upload: Command = {
  name: 'upload',
  summary: 'Upload a picture and print its URL for jobs of the next day.',
  args: [{ name: 'file', isFile: true, summary: 'JPEG, PNG or WebP file, at most 10 MB.' }],
  examples: ['try-on upload model.jpg'],
  async run(context) {
    const { client } = await connect(context)
    const uploaded = await uploadFile(client, context.args[0] ?? '', context.signal)
    context.output.result(uploaded, [printable(uploaded.url)])
    context.output.note(printable(`Valid until ${uploaded.expires_at}.`))
  },
}

const urlOf = async (client: TryOnClient, image: string, signal: AbortSignal): Promise<string> =>
  isUrl(image) ? image : (await uploadFile(client, image, signal)).url

async function submit(
  { options, signal }: Context,
  client: TryOnClient,
  modelUrl: string,
  garmentUrl: string,
) {
  const workspace = options.text('workspace')
  const webhookUrl = options.text('webhook-url')
  try {
    return await client.tryOn.submit(
      {
        model_image_url: modelUrl,
        garment_image_url: garmentUrl,
        ...(workspace && { workspace_id: workspace }),
        ...(webhookUrl && { webhook_url: webhookUrl }),
      },
      { signal },
    )
  } catch (error) {
    const hint = 'The service may have accepted the job. See: try-on jobs list --limit 1'
    if (signal.aborted) throw new InterruptedError(hint)
    if (error instanceof TimeoutError) {
      throw new CliError('timeout', error.message, { exitCode: EXIT.timeout, hints: [hint] })
    }
    throw error
  }
}
