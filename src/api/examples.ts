// The examples of the OpenAPI document. They describe one organisation, and ids match their times.
import { EXAMPLE_ORIGIN } from '../domain/docs.ts'

/** The two workspaces of the organisation. */
const WORKSPACE_ID = 'ws_01m45j10cfeqs81jeh7e74f9g5'
const SECOND_WORKSPACE_ID = 'ws_01m5a69gh1f0er9sgfmabkrpry'

/** The id of the job that the requests are about. */
export const JOB_ID = 'job_01m7w4n5twfh782ygbjfb2yp7a'

export const WEBHOOK_ID = 'evt_01m7w4n5twfh782ygbjfb2yp7a'

const CURSOR = 'job_01m7w4jrbbeawrhwema1ye79gs.JY7kJ5mDqUcL0bR3xWf2aAq9TzHn4eVo8sKd1iPgQwE'

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
  model_image_url: 'https://shop.example/model.jpg',
  garment_image_url: 'https://shop.example/shirt.png',
}

export const tryOnRequests = {
  images: { summary: 'Two images', value: IMAGES },
  webhook: { summary: 'With a webhook', value: { ...IMAGES, webhook_url: WEBHOOK_URL } },
  failure: {
    summary: 'Test mode: a job that fails',
    value: {
      model_image_url: 'https://test.invalid/fail/person_not_found',
      garment_image_url: 'https://test.invalid/delay/5',
    },
  },
  cancellation: {
    summary: 'Test mode: a job that can be cancelled for 30 seconds',
    value: { ...IMAGES, model_image_url: 'https://test.invalid/pending/30' },
  },
}

export const submitted = {
  submitted: {
    summary: 'An accepted job',
    value: {
      job_id: JOB_ID,
      status: 'pending',
      created_at: '2026-11-20T09:30:00.412Z',
      mode: 'live',
    },
  },
}

const completedJob = {
  completed: { summary: 'A completed job', value: withWebhook(completed, 'delivered') },
}
const failedJob = {
  failed: { summary: 'A failed job', value: withWebhook(failed, 'retrying') },
}

export const endedJobs = { ...completedJob, ...failedJob }

export const jobs = {
  ...completedJob,
  processing: {
    summary: 'A job in processing',
    value: withWebhook(processing, 'pending'),
  },
  ...failedJob,
  refunded: { summary: 'A job that the client cancelled', value: withWebhook(refunded, null) },
  cancelled: { summary: 'A job that the service withdrew', value: withWebhook(cancelled, null) },
}

export const jobLists = {
  page: {
    summary: 'A page with more to come',
    value: { jobs: [processing, completed, failed], next_cursor: CURSOR, has_more: true },
  },
  last_page: {
    summary: 'The last page',
    value: { jobs: [failed], next_cursor: null, has_more: false },
  },
}

export const cancellations = {
  cancelled: {
    summary: 'A cancelled live job',
    value: { job_id: refunded.job_id, status: 'refunded', refunded_credits: 1 },
  },
}

export const uploads = {
  upload: {
    summary: 'A stored image',
    value: {
      url: `${EXAMPLE_ORIGIN}/uploads/upl_01m7w4c0f0efc83dqgkgq5ejq0/org_01m45hymcpf8rrpq3qwbcgyjv1.jpg?expires=1795253100&signature=hE7MCBZOLqsnY0qa3uGvplmeWJVw5xl4TggM50f8DkU`,
      expires_at: '2026-11-21T09:25:00.000Z',
    },
  },
}

export const workspaces = {
  workspaces: {
    summary: 'Two workspaces',
    value: {
      workspaces: [
        {
          id: WORKSPACE_ID,
          name: 'Default',
          status: 'active',
          created_at: '2026-10-05T08:14:02.127Z',
        },
        {
          id: SECOND_WORKSPACE_ID,
          name: 'Outlet',
          status: 'active',
          created_at: '2026-10-19T13:40:51.873Z',
        },
      ],
    },
  },
}

export const accounts = {
  account: {
    summary: 'An organisation',
    value: {
      org_id: 'org_01m45hymcpf8rrpq3qwbcgyjv1',
      name: 'Acme Fashion',
      plan: 'growth',
      region_code: 'EU',
      currency_code: 'EUR',
      credits: 412,
      auto_reload_enabled: true,
    },
  },
}

export const webhookBodies = {
  'job.completed': {
    summary: 'A completed job',
    value: { type: 'job.completed', timestamp: '2026-11-20T09:30:09.137Z', data: completed },
  },
  'job.failed': {
    summary: 'A failed job',
    value: { type: 'job.failed', timestamp: '2026-11-20T09:28:43.741Z', data: failed },
  },
  'job.refunded': {
    summary: 'A job that the client cancelled',
    value: { type: 'job.refunded', timestamp: '2026-11-20T09:31:16.884Z', data: refunded },
  },
  'job.cancelled': {
    summary: 'A job that the service withdrew',
    value: { type: 'job.cancelled', timestamp: '2026-11-20T09:32:47.302Z', data: cancelled },
  },
}
