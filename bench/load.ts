// Sends requests with autocannon in a process of its own. The process of the harness reads the log of the
// service, which would slow down a load generator on the same thread.
import { fork } from 'node:child_process'
import autocannon, { type Request } from 'autocannon'

/** The number of connections, each with one request at a time. */
export const CONNECTIONS = 50

export interface Load {
  url: string
  request: Request
  /** Sends one request to each of these paths, instead of requests to one path for `seconds`. */
  paths?: string[]
  seconds: number
}

export interface Rate {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

export interface LoadGenerator {
  /** @throws Error when a response is not 2xx or missing */
  run(load: Load): Promise<Rate>
  close(): void
}

/** Starts the process. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(import.meta.filename)
  return {
    run: (load) =>
      new Promise((resolve, reject) => {
        const onExit = () => reject(new Error('The load generator exited'))
        child.once('exit', onExit)
        child.once('message', (answer: { rate?: Rate; error?: string }) => {
          child.off('exit', onExit)
          if (answer.rate) resolve(answer.rate)
          else reject(new Error(answer.error))
        })
        child.send(load)
      }),
    close: () => void child.kill(),
  }
}

async function send({ url, request, paths, seconds }: Load): Promise<Rate> {
  const startedAt = performance.now()
  let endedAt = startedAt
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    ...(paths
      ? {
          amount: paths.length,
          requests: [
            {
              ...request,
              setupRequest: (each) => ({ ...each, path: paths.pop() ?? '' }),
              onResponse: () => (endedAt = performance.now()),
            },
          ],
        }
      : { duration: seconds, requests: [request] }),
  })
  if (result.non2xx + result.errors > 0) {
    throw new Error(`${request.path}: ${result.non2xx} not 2xx, ${result.errors} errors`)
  }
  // With a fixed number of requests, autocannon rounds the duration up to whole seconds.
  const duration = paths ? (endedAt - startedAt) / 1_000 : result.duration
  const { total: requests } = result.requests
  const { p50: p50Ms, p99: p99Ms } = result.latency
  return { requests, perSecond: Math.round(requests / duration), p50Ms, p99Ms }
}

if (import.meta.main) {
  process.on('message', (load: Load) => {
    send(load).then(
      (rate) => process.send?.({ rate }),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
}
