// try-on run and try-on upload.
import { Command } from '@commander-js/extra-typings'
import { TimeoutError, type TryOnClient, type TryOnRequest } from '../index.ts'
import type { Context } from './context.ts'
import { CliError, EXIT, InterruptedError } from './errors.ts'
import { examples } from './help.ts'
import { isUrl, outputTarget, uploadFile } from './images.ts'
import { timeoutOption } from './options.ts'
import { printable } from './output.ts'
import { finish } from './result.ts'
import { connect } from './settings.ts'
import { waitForJob } from './wait.ts'

export const run = (context: Context) =>
  new Command('run')
    .summary('Create a picture of the model wearing the garment, and download it.')
    .description(
      `Uploads local files, submits a job, waits for its end and downloads the picture. An existing file
is replaced. With --json, prints {"job": …, "path": …}, also when the job failed.`,
    )
    .argument('<model>', 'Photo of a person: file or URL. JPEG, PNG or WebP.')
    .argument('<garment>', 'Photo of a garment: file or URL.')
    .option('-o, --output <FILE>', 'File or folder for the picture. Default: <job_id>.<ext>.')
    .option('--workspace <ID>', 'Workspace of the job.')
    .option('--webhook-url <URL>', 'Receives the result as a webhook.')
    .addOption(timeoutOption())
    .addHelpText(
      'after',
      examples(
        'try-on run model.jpg garment.png -o out.jpg',
        'try-on run https://shop.example/model.jpg garment.png --json',
      ),
    )
    .action(async (model, garment, options) => {
      const { output, signal } = context
      const target = await outputTarget(options.output)
      const { client, baseUrl } = await connect(context)
      const job = await output.withProgress(async (show) => {
        if (!isUrl(model) || !isUrl(garment)) show('uploading')
        const [modelUrl, garmentUrl] = await Promise.all([
          urlOf(client, model, signal),
          urlOf(client, garment, signal),
        ])
        show('submitting')
        const { job_id: jobId, status } = await submit(client, signal, {
          model_image_url: modelUrl,
          garment_image_url: garmentUrl,
          ...(options.workspace && { workspace_id: options.workspace }),
          ...(options.webhookUrl && { webhook_url: options.webhookUrl }),
        })
        show(`${jobId} ${status}`)
        return waitForJob({ client, jobId, signal, show, ...options })
      })
      await finish({ job, target, baseUrl, output, signal })
    })

export const upload = (context: Context) =>
  new Command('upload')
    .description('Upload a picture and print its URL for jobs of the next day.')
    .argument('<file>', 'JPEG, PNG or WebP file, at most 10 MB.')
    .addHelpText('after', examples('try-on upload model.jpg'))
    .action(async (file) => {
      const { client } = await connect(context)
      const uploaded = await uploadFile(client, file, context.signal)
      context.output.result(uploaded, [printable(uploaded.url)])
      context.output.note(printable(`Valid until ${uploaded.expires_at}.`))
    })

const urlOf = async (client: TryOnClient, image: string, signal: AbortSignal): Promise<string> =>
  isUrl(image) ? image : (await uploadFile(client, image, signal)).url

async function submit(client: TryOnClient, signal: AbortSignal, request: TryOnRequest) {
  try {
    return await client.tryOn.submit(request, { signal })
  } catch (error) {
    const hint = 'The service may have accepted the job. See: try-on jobs list --limit 1'
    if (signal.aborted) throw new InterruptedError(hint)
    if (error instanceof TimeoutError) {
      throw new CliError('timeout', error.message, { exitCode: EXIT.timeout, hints: [hint] })
    }
    throw error
  }
}
