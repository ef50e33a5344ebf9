// The page of one request in the request log. The use case checks the permission.
import { Hono } from 'hono'
import { z } from 'zod'
import { errorDocsPath } from '../../domain/docs.ts'
import { readRequest } from '../../request-log/read.ts'
import { ModeBadge } from '../components/badges.tsx'
import { CopyableId } from '../components/copyable-text.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { Notice } from '../components/notice.tsx'
import { KeyName, nameOf, REQUEST_STYLES, StatusCode } from '../components/request.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import type { ConsoleApp } from '../context.ts'
import { scopeOf } from '../middleware/session.ts'
import { requestHint } from '../request-hints.ts'

const Position = z
  .string()
  .regex(/^\d+\.\d+$/)
  .optional()
  .catch(undefined)

export const request = new Hono<ConsoleApp>().get('/:requestId', async (c) => {
  const entry = await readRequest({
    ...scopeOf(c),
    requestId: c.req.param('requestId'),
    position: Position.parse(c.req.query('entry')),
  })
  return memberPage(
    c,
    { title: 'Request', stylesheet: REQUEST_STYLES },
    <>
      <p class="breadcrumb">
        <Link to="/requests">Request log</Link>
      </p>
      <h1 class="request-title">
        <code>{nameOf(entry)}</code>
      </h1>
      <p class="job-status">
        <StatusCode status={entry.status} /> <ModeBadge mode={entry.mode} />
      </p>
      {entry.code !== null && <ErrorHelp code={entry.code} />}
      <section class="card" aria-labelledby="details-heading">
        <h2 id="details-heading">Details</h2>
        <dl>
          <dt>Request ID</dt>
          <dd>
            <CopyableId id={entry.requestId} label="request ID" />
          </dd>
          <dt>Time</dt>
          <dd>
            <Timestamp at={entry.at} precise />
          </dd>
          <dt>Duration</dt>
          <dd>{formatDuration(entry.ms)}</dd>
          <dt>API key</dt>
          <dd>
            <KeyName request={entry} />
          </dd>
          {entry.code !== null && (
            <>
              <dt>Error code</dt>
              <dd>
                <code>{entry.code}</code>
              </dd>
            </>
          )}
          {entry.jobId !== null && (
            <>
              <dt>Job</dt>
              <dd>
                <Link class="id" to={`/jobs/${entry.jobId}`}>
                  {entry.jobId}
                </Link>
              </dd>
              <dt>Other requests</dt>
              <dd>
                <Link to={`/requests?${new URLSearchParams({ q: entry.jobId })}`}>
                  All requests of this job
                </Link>
              </dd>
            </>
          )}
        </dl>
      </section>
    </>,
  )
})

const ErrorHelp = ({ code }: { code: string }) => (
  <Notice kind={code === 'internal_error' ? 'bad' : 'info'}>
    <strong>{code}</strong>: {requestHint(code)}{' '}
    <a href={errorDocsPath(code)}>Read about this error</a>
  </Notice>
)
