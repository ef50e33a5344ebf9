// The examples of the OpenAPI document. They describe one organisation, and ids match their times.
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'

/** The two workspaces of the organisation. */
const WORKSPACE_ID = 'ws_01m45j10cfeqs81jeh7e74f9g5'
const SECOND_WORKSPACE_ID = 'ws_01m5a69gh1f0er9sgfmabkrpry'

/** The id of the job that the requests are about. */
export const JOB_ID = 'job_01m7w4n5twfh782ygbjfb2yp7a'

export const WEBHOOK_ID = 'evt_01m7w4n5twfh782ygbjfb2yp7a'

const CURSOR = 'job_01m7w4jrbbeawrhwema1ye79gs.JY7kJ5mDqUcL0bR3xWf2aAq9TzHn4eVo8sKd1iPgQwE'

const example = <Value>(summary: string, value: Value) => ({ summary, value })

/** The examples of a body that has only one. */
const only = <Name extends string, Value>(name: Name, summary: string, value: Value) =>
  ({ [name]: example(summary, value) }) as Record<Name, { summary: string; value: Value }>

/** A live job without a result. */
const job = (id: string, createdAt: string, status: string) => ({
  job_id: id,
  status,
  workspace_id: WORKSPACE_ID,
  mode: 'live',
  output_url: null,
  credits_consumed: null,
  error_code: null,
  created_at: createdAt,
  completed_at: null,
  duration_ms: null,
})

const completed = {
  ...job(JOB_ID, '2026-11-20T09:30:00.412Z', 'completed'),
  output_url: `${EXAMPLE_ORIGIN}/outputs/${JOB_ID}.jpg?expires=1795170609&signature=7DFoL95WGReVL_eKeore_9D-vDct0mhxkWxGxjA4G0U`,
  credits_consumed: 1,
  completed_at: '2026-11-20T09:30:09.137Z',
  duration_ms: 8_514,
}

const failed = {
  ...job('job_01m7w4jrbbeawrhwema1ye79gs', '2026-11-20T09:28:41.067Z', 'failed'),
  error_code: 'person_not_found',
  duration_ms: 2_306,
}

const refunded = job('job_01m7w4qf6afr38temjqx0raz10', '2026-11-20T09:31:15.530Z', 'refunded')
const cancelled = job('job_01m7w4sf2de6frmyswv034wajx', '2026-11-20T09:32:20.941Z', 'cancelled')
const processing = job('job_01m7w4tta2ez6r4qmgm543qxq4', '2026-11-20T09:33:05.218Z', 'processing')

const WEBHOOK_URL = 'https://shop.example/webhooks/try-on'
const withWebhook = (job: object, webhook_status: string | null) => ({
  ...job,
  webhook_url: webhook_status === null ? null : WEBHOOK_URL,
  webhook_status,
})

const IMAGES = {
  // They exist, so that the examples also work with a live key.
  model_image_url: `${EXAMPLE_ORIGIN}/static/samples/model.jpg`,
  garment_image_url: `${EXAMPLE_ORIGIN}/static/samples/garment.jpg`,
}

export const tryOnRequests = {
  images: example('Two images', IMAGES),
  webhook: example('With a webhook', { ...IMAGES, webhook_url: WEBHOOK_URL }),
  failure: example('Test mode: a job that fails', {
    model_image_url: 'https://test.invalid/fail/person_not_found',
    garment_image_url: 'https://test.invalid/delay/5',
  }),
  cancellation: example('Test mode: a job that can be cancelled for 30 seconds', {
    ...IMAGES,
    model_image_url: 'https://test.invalid/pending/30',
  }),
}

export const submitted = only('submitted', 'An accepted job', {
  job_id: JOB_ID,
  status: 'pending',
  created_at: completed.created_at,
  mode: 'live',
})

export const endedJobs = {
  completed: example('A completed job', withWebhook(completed, 'delivered')),
  failed: example('A failed job', withWebhook(failed, 'retrying')),
}

export const jobs = {
  completed: endedJobs.completed,
  processing: example('A job in processing', withWebhook(processing, 'pending')),
  failed: endedJobs.failed,
  refunded: example('A job that the client cancelled', withWebhook(refunded, null)),
  cancelled: example('A job that the service withdrew', withWebhook(cancelled, null)),
}

/** The examples of a list. @param name the field of the items */
const pages = (name: string, items: object[], next_cursor: string) => ({
  page: example('A page with more to come', { [name]: items, next_cursor, has_more: true }),
  last_page: example('The last page', {
    [name]: items.slice(-1),
    next_cursor: null,
    has_more: false,
  }),
})

export const jobLists = pages('jobs', [processing, completed, failed], CURSOR)

export const cancellations = only('cancelled', 'A cancelled live job', {
  job_id: refunded.job_id,
  status: 'refunded',
  refunded_credits: 1,
})

export const uploads = only('upload', 'A stored image', {
  url: `${EXAMPLE_ORIGIN}/uploads/upl_01m7w4c0f0efc83dqgkgq5ejq0/org_01m45hymcpf8rrpq3qwbcgyjv1.jpg?expires=1795253100&signature=hE7MCBZOLqsnY0qa3uGvplmeWJVw5xl4TggM50f8DkU`,
  expires_at: '2026-11-21T09:25:00.000Z',
})

const workspace = (id: string, name: string, createdAt: string) => ({
  id,
  name,
  status: 'active',
  created_at: createdAt,
})

export const workspaces = only('workspaces', 'Two workspaces', {
  workspaces: [
    workspace(WORKSPACE_ID, 'Default', '2026-10-05T08:14:02.127Z'),
    workspace(SECOND_WORKSPACE_ID, 'Outlet', '2026-10-19T13:40:51.873Z'),
  ],
})

export const accounts = only('account', 'An organisation', {
  org_id: 'org_01m45hymcpf8rrpq3qwbcgyjv1',
  name: 'Acme Fashion',
  plan: 'growth',
  region_code: 'EU',
  currency_code: 'EUR',
  credits: 412,
  auto_reload_enabled: true,
})

const webhookBody = (type: string, summary: string, timestamp: string, data: object) =>
  only(type, summary, { type, timestamp, data })

export const webhookBodies = {
  ...webhookBody('job.completed', 'A completed job', completed.completed_at, completed),
  ...webhookBody('job.failed', 'A failed job', '2026-11-20T09:28:43.741Z', failed),
  ...webhookBody(
    'job.refunded',
    'A job that the client cancelled',
    '2026-11-20T09:31:16.884Z',
    refunded,
  ),
  ...webhookBody(
    'job.cancelled',
    'A job that the service withdrew',
    '2026-11-20T09:32:47.302Z',
    cancelled,
  ),
}

const ENDPOINT_ID = 'we_01m7w3zsg8fbx9c0m2q4r6t8v1'

const endpoint = {
  id: ENDPOINT_ID,
  name: 'Order system',
  url: WEBHOOK_URL,
  events: ['job.completed', 'job.failed'],
  mode: 'live',
  status: 'enabled',
  failing_since: null,
  created_at: '2026-11-20T09:18:02.312Z',
}
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

export const endpoints = {
  id: ENDPOINT_ID,
  secret: SECRET,
  endpoints: {
    enabled: example('An endpoint', endpoint),
    disabled: example('An endpoint that the service has disabled', {
      ...endpoint,
      status: 'disabled',
      failing_since: '2026-11-20T09:28:44.020Z',
    }),
  },
  lists: only('endpoints', 'One endpoint', { webhook_endpoints: [endpoint] }),
  creations: {
    url: example('All events', { url: WEBHOOK_URL }),
    events: example('Some events', {
      url: WEBHOOK_URL,
      events: endpoint.events,
      name: endpoint.name,
    }),
  },
  created: only('created', 'A new endpoint', { ...endpoint, secret: SECRET }),
  changes: {
    disable: example('Disable it', { status: 'disabled' }),
    events: example('Enable it with other events', {
      events: ['job.completed'],
      status: 'enabled',
    }),
  },
  secrets: only('rotated', 'A new secret', { secret: SECRET }),
  tests: only('failed', 'An event of a failed job', { type: 'job.failed' }),
  testEvents: only('failed', 'An accepted test job', {
    job_id: 'job_01m7w4vr7sfsxbp1d9y2k5w8e3',
    type: 'job.failed',
  }),
}

const delivered = {
  event_id: WEBHOOK_ID,
  type: 'job.completed',
  status: 'delivered',
  job_id: JOB_ID,
  endpoint_id: null,
  url: WEBHOOK_URL,
  attempt_count: 1,
  response_status: 204,
  error: null,
  next_attempt_at: null,
  created_at: completed.completed_at,
}
const attempt = {
  number: 1,
  attempted_at: '2026-11-20T09:30:09.301Z',
  duration_ms: 187,
  response_status: 204,
  response_body: '',
  error: null,
}
const retrying = {
  ...delivered,
  event_id: 'evt_01m7w4jrbbeawrhwema1ye79gs',
  type: 'job.failed',
  status: 'retrying',
  job_id: failed.job_id,
  response_status: null,
  error: 'The connection was refused.',
  next_attempt_at: '2026-11-20T09:28:49.120Z',
  created_at: '2026-11-20T09:28:43.741Z',
}

export const deliveries = {
  lists: pages('webhook_deliveries', [delivered, retrying], CURSOR.replace('job', 'evt')),
  withAttempts: only('delivered', 'A delivery', { ...delivered, attempts: [attempt] }),
  resent: only('resent', 'A delivery that is sent again', {
    ...delivered,
    status: 'retrying',
    next_attempt_at: '2026-11-20T10:02:11.456Z',
    attempts: [attempt],
  }),
}

const day = (date: string, completed: number, failed: number, other: number) => ({
  date,
  completed,
  failed,
  other,
  credits_consumed: completed,
})

export const usage = {
  days: example('Two days', {
    mode: 'live',
    from: '2026-11-19',
    to: '2026-11-20',
    days: [day('2026-11-19', 212, 9, 1), day('2026-11-20', 48, 2, 3)],
    total: { completed: 260, failed: 11, other: 4, credits_consumed: 260 },
    is_complete: true,
  }),
  byKey: example('One day, by API key', {
    mode: 'live',
    from: '2026-11-20',
    to: '2026-11-20',
    days: [day('2026-11-20', 48, 2, 3)],
    total: { completed: 48, failed: 2, other: 3, credits_consumed: 48 },
    api_keys: [
      {
        api_key_id: 'key_01ka2xcejqf2nbrexx3vqjhp41',
        name: 'Web shop',
        days: [day('2026-11-20', 40, 2, 1)],
        total: { completed: 40, failed: 2, other: 1, credits_consumed: 40 },
      },
      {
        api_key_id: 'key_01kb7wm2s4e8t9xv6r0z5c3d1n',
        name: 'App',
        days: [day('2026-11-20', 8, 0, 2)],
        total: { completed: 8, failed: 0, other: 2, credits_consumed: 8 },
      },
    ],
    is_complete: true,
  }),
}
