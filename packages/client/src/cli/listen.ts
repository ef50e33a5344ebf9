// try-on listen: prints the webhooks that a server on this machine receives.
import { createServer, type Server } from 'node:http'
import { Command } from '@commander-js/extra-typings'
import type { Context } from './context.ts'
import { CliError, UsageError } from './errors.ts'
import { failureOf } from './failure.ts'
import { examples } from './help.ts'
import { integer } from './options.ts'
import { printable, type Output } from './output.ts'
import { configuredSecret } from './settings.ts'
import { receiveWebhook, type Delivery } from './webhook-receiver.ts'

export const listen = (context: Context) =>
  new Command('listen')
    .summary('Receive, verify and print webhooks, and forward them to a local server.')
    .description(
      `Listens on 127.0.0.1 until Ctrl-C. Responds to an invalid signature with 400, and otherwise with the
status of the server to which it forwards, or 200. With --json, prints one JSON document per line.

The service must be able to reach this machine. A service on the internet needs a tunnel to the
port. Use the address of the tunnel as webhook_url.`,
    )
    .option(
      '--port <PORT>',
      'Port on 127.0.0.1. 0 chooses a free port.',
      integer('--port', 0, 65_535),
      4242,
    )
    .option('--forward <URL>', 'Receives the body and headers of each webhook.', checkedForwardUrl)
    .option(
      '--secret <SECRET>',
      'Webhook signing secret. Prefer TRY_ON_WEBHOOK_SECRET or try-on login.',
    )
    .addHelpText(
      'after',
      examples(
        'try-on listen',
        'try-on listen --port 4242 --forward http://localhost:3000/webhooks',
      ),
    )
    .action(async ({ port, forward: forwardUrl, secret: secretOption }) => {
      const { output, signal } = context
      const secret = secretOption || (await configuredSecret(context))
      if (secret) checkSecret(secret)
      else {
        output.warn('No webhook signing secret: webhooks are not verified.')
        output.note('Set TRY_ON_WEBHOOK_SECRET. Owners find the secret in the console.')
      }
      const server = createServer((request, response) => {
        void receiveWebhook({ request, response, secret, forwardUrl }).then(
          (delivery) => delivery && output.entry(delivery, lineOf(delivery, output)),
          (error: unknown) => {
            // An incomplete request: the sender closed the connection.
            if (request.complete) output.failure(failureOf(error))
            response.destroy()
          },
        )
      })
      const url = await start(server, port)
      output.note(`Listening on ${url}${forwardUrl ? `, forwarding to ${forwardUrl}` : ''}`)
      output.note(
        `Use ${url} as webhook_url. A service on the internet needs a tunnel to this port.`,
      )
      if (output.isJson) output.entry({ listening: url }, '')
      await stopped(server, signal)
    })

function lineOf(delivery: Delivery, output: Output): string {
  const { type, job_id: jobId, job_status: jobStatus, verified, problem } = delivery
  const check =
    verified === null
      ? output.colour('not verified', 'yellow')
      : verified
        ? output.colour('verified', 'green')
        : output.colour('invalid', 'red')
  const parts = [type ?? 'unknown type', jobId ?? 'no job', jobStatus ?? '']
  return [
    output.colour(delivery.received_at.slice(11, 19), 'dim'),
    ...parts.filter((part) => part !== '').map(printable),
    check,
    ...(delivery.forward_status === null ? [] : [`forwarded: ${delivery.forward_status}`]),
    `→ ${delivery.response_status}`,
    ...(problem ? [`(${printable(problem)})`] : []),
  ].join('  ')
}

/** @throws UsageError for a secret that `webhooks.verify` rejects */
function checkSecret(secret: string): void {
  try {
    if (secret.startsWith('whsec_') && atob(secret.slice('whsec_'.length)) !== '') return
  } catch {
    // Not base64.
  }
  throw new UsageError('The webhook signing secret must start with whsec_, followed by base64.')
}

function checkedForwardUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new UsageError(
      '--forward must be an http(s) URL, for example http://localhost:3000/webhooks',
    )
  }
  return text
}

function start(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new CliError('listen_failed', `Cannot listen on port ${port}: ${error.code}`, {
          hints: ['Choose another port with --port.'],
        }),
      ),
    )
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const actual = typeof address === 'object' && address ? address.port : port
      resolve(`http://127.0.0.1:${actual}`)
    })
  })
}

/** Resolves after Ctrl-C: the end of this command is not an error. */
function stopped(server: Server, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    server.on('close', resolve)
    const close = () => {
      server.close()
      server.closeAllConnections()
    }
    if (signal.aborted) close()
    else signal.addEventListener('abort', close, { once: true })
  })
}
