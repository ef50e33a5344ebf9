// Opens the page of anything with an ID.
import { may, mayInAllWorkspaces, createApp } from '../console-context.ts'
import { isIdPart } from '../job-filter.ts'
import { isEventId, isId, type Prefix } from '../../platform/ids.ts'
import { redirectTo } from '../form-notices.ts'

/** The page of each kind of ID. It checks that the member may see the object. */
const PAGES: Partial<Record<Prefix, (id: string) => string>> = {
  job: (id) => `/jobs/${id}`,
  key: (id) => `/settings/api-keys/${id}`,
  we: (id) => `/settings/webhooks/endpoints/${id}`,
  ws: (id) => `/jobs?workspace=${id}`,
  usr: (id) => `/settings/team/members/${id}`,
  pay: (id) => `/billing/payments/${id}`,
  org: () => '/settings/organisation',
}

export const search = createApp().get('/', (c) => {
  const text = (c.req.query('q') ?? '').trim().slice(0, 255)
  const id = text.toLowerCase()
  if (isEventId(id)) return redirectTo(c, `/settings/webhooks/${id}`)
  const prefix = (Object.keys(PAGES) as Prefix[]).find((known) => isId(known, id))
  if (prefix) return redirectTo(c, PAGES[prefix]?.(id) ?? '')
  if (!may(c, 'jobs')) return redirectTo(c, '')
  // A request has an ID of any form. Only members of all workspaces have the request log.
  const isPart = isIdPart(id) && (id.startsWith('job_') || !id.includes('-'))
  const isJob = isPart || !mayInAllWorkspaces(c, 'jobs')
  const query = new URLSearchParams({ q: isJob ? id : text })
  return redirectTo(c, `${isJob ? '/jobs' : '/requests'}?${query}`)
})
