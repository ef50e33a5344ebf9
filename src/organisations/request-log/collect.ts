// Collects requests in the isolate's memory and sends them to the Organisation in batches, after their
// responses. A crash of the isolate loses the requests of the last second.
import { log } from '../../platform/log.ts'
import type { LoggedRequest } from '../../credits/request-log.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'

const SEND_AFTER_MS = 1_000
const MAX_BATCH = 100
/** An older batch belongs to an invocation that was killed. */
const MAX_BATCH_AGE_MS = 5_000
/** The maximum number of requests per minute that the isolate logs without a valid key. */
const MAX_UNTRUSTED = 60
const MINUTE_MS = 60_000

interface Batch {
  requests: LoggedRequest[]
  openedAt: number
}

/** The batches that accept requests, by organisation. */
const open = new Map<string, Batch>()
const untrusted = { minute: 0, count: 0 }

/**
 * Logs a request. Returns at once: the request that opens a batch sends it in `waitUntil`.
 * @param isTrusted whether the key was valid in this isolate. Other requests are limited, since anyone
 * can send them and each batch is a call of an Organisation.
 */
export function collectRequest(
  { env, executionCtx }: { env: Env; executionCtx: Pick<ExecutionContext, 'waitUntil'> },
  { organisationId, isTrusted }: { organisationId: string; isTrusted: boolean },
  request: LoggedRequest,
): void {
  const now = Date.now()
  if (!isTrusted && !takeUntrusted(now)) return
  const current = open.get(organisationId)
  if (current && current.requests.length < MAX_BATCH && now - current.openedAt < MAX_BATCH_AGE_MS) {
    current.requests.push(request)
    return
  }
  const batch = { requests: [request], openedAt: now }
  open.set(organisationId, batch)
  executionCtx.waitUntil(sendLater(env, organisationId, batch))
}

function takeUntrusted(now: number): boolean {
  const minute = Math.floor(now / MINUTE_MS)
  if (untrusted.minute !== minute) Object.assign(untrusted, { minute, count: 0 })
  return untrusted.count++ < MAX_UNTRUSTED
}

async function sendLater(env: Env, organisationId: string, batch: Batch): Promise<void> {
  await scheduler.wait(SEND_AFTER_MS)
  if (open.get(organisationId) === batch) open.delete(organisationId)
  const { requests } = batch
  try {
    await organisationStub(env, organisationId).logRequests(organisationId, requests)
  } catch (error) {
    log.error('requests not logged', error, { organisationId, count: requests.length })
  }
}
