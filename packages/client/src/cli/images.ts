// Pictures between the local disk and the service: uploads and downloads.
import { createWriteStream } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Job, TryOnClient, Upload } from '../index.ts'
import { codeOf } from './config.ts'
import { CliError, EXIT, InterruptedError, UsageError } from './errors.ts'
import type { Output } from './output.ts'

const MAX_BYTES = 10 * 1024 * 1024

export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** Uploads a local file. @throws UsageError when it cannot be read or exceeds 10 MB */
export async function uploadFile(
  client: TryOnClient,
  path: string,
  signal: AbortSignal,
): Promise<Upload> {
  return client.uploads.create(await readImage(path), { signal })
}

async function readImage(path: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const info = await stat(path)
    if (!info.isFile()) throw new UsageError(`${path} is not a file.`)
    if (info.size > MAX_BYTES) throw new UsageError(`${path} is larger than 10 MB.`)
    return new Uint8Array(await readFile(path))
  } catch (error) {
    if (error instanceof CliError) throw error
    const reason =
      codeOf(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${codeOf(error)})`
    throw new UsageError(`${path} ${reason}.`, 'Pass the path of a picture, or an http(s) URL.')
  }
}

/**
 * Where the picture of a job is stored: `target`, or `<job_id>.<ext>` when it is missing or a folder.
 * @throws UsageError when the folder does not exist, and for devices and pipes
 */
export async function outputTarget(target = '.'): Promise<(job: Job) => string> {
  const found = await statOf(target)
  if (found?.isDirectory()) return (job) => join(target, fileName(job))
  // The download would replace a device such as /dev/null with a file.
  if (found && !found.isFile()) throw new UsageError(`${target} is not a regular file.`)
  const folder = /[\\/]$/.test(target) ? target : dirname(target)
  if (!(await statOf(folder))?.isDirectory()) {
    throw new UsageError(`The folder ${folder} does not exist.`)
  }
  return () => target
}

/** @throws CliError for values that could name a file outside the folder */
function fileName(job: Job): string {
  const name = `${job.job_id}${extensionOf(job)}`
  if (job.output_url ? /^job_\w+\.(jpg|png|webp)$/.test(name) : /^job_\w+$/.test(name)) return name
  throw new CliError(
    'unexpected_response',
    'The service returned an invalid name for the picture.',
    {
      hints: ['Name the file: --output FILE'],
    },
  )
}

/**
 * Downloads the picture of a completed job. The file is complete or not there.
 * @throws CliError when the job has no picture, or the download or the file fails
 */
export async function download(job: Job, path: string, signal: AbortSignal): Promise<void> {
  if (!job.output_url) {
    throw new CliError('output_deleted', `The picture of ${job.job_id} has been deleted.`)
  }
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    const response = await fetch(job.output_url, { signal })
    if (!response.ok || !response.body) {
      await response.body?.cancel()
      throw new CliError('download_failed', `The download failed with status ${response.status}.`, {
        hints: [`Try again: try-on jobs wait ${job.job_id} -o ${path}`],
      })
    }
    await pipeline(Readable.from(response.body), createWriteStream(temporary, { flags: 'wx' }))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    if (error instanceof CliError) throw error
    const hint = `Try again: try-on jobs wait ${job.job_id} -o ${path}`
    if (signal.aborted) throw new InterruptedError(hint)
    throw new CliError('download_failed', `The picture could not be stored: ${reasonOf(error)}`, {
      exitCode: EXIT.failure,
      hints: [hint],
    })
  }
}

/** Notes a name such as out.jpg for a PNG file, which some programs refuse to open. */
export function noteExtension(job: Job, path: string, output: Output): void {
  const [actual, named] = [extensionOf(job), extname(path).toLowerCase().replace('jpeg', 'jpg')]
  if (actual && named !== actual) {
    output.note(
      `The picture is a ${actual.slice(1).toUpperCase()} file. Its name should end in ${actual}.`,
    )
  }
}

const extensionOf = ({ output_url: url }: Job): string =>
  url ? extname(new URL(url).pathname).toLowerCase() : ''

const reasonOf = (error: unknown): string => {
  const { cause } = error instanceof Error ? error : {}
  return cause instanceof Error
    ? cause.message
    : error instanceof Error
      ? error.message
      : String(error)
}

const statOf = (path: string) => stat(path).catch(() => undefined)
