// The page of one request in the request log. The use case checks the permission.
import { Hono } from 'hono'
import { z } from 'zod'
import { errorDocsPath } from '../../domain/docs.ts'
import { readRequest } from '../../organisations/request-log/read-requests.ts'
import { ModeBadge } from '../components/badges.tsx'
import { CopyableId, CopyableText } from '../components/copyable-text.tsx'
import { memberPage } from '../components/layout.tsx'
import { Link } from '../components/link.tsx'
import { Notice } from '../components/notice.tsx'
import { KeyName, nameOf, StatusCode } from '../components/request-cells.tsx'
import { formatDuration, Timestamp } from '../components/time.tsx'
import type { ConsoleApp } from '../console-context.ts'
import { scopeOf } from '../middleware/session.ts'
import { Details, Section } from '../components/section.tsx'
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
    { title: 'Request' },
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
      <Section id="details-heading" title="Details" card>
        <Details
          rows={[
            ['Request ID', <CopyableId id={entry.requestId} label="request ID" />],
            ['Time', <Timestamp as="second" at={entry.at} />],
            ['Duration', formatDuration(entry.ms)],
            ['API key', <KeyName request={entry} />],
            entry.code !== null && ['Error code', <code>{entry.code}</code>],
            entry.message !== null && ['Message', entry.message],
            entry.jobId !== null && [
              'Job',
              <Link class="id" to={`/jobs/${entry.jobId}`}>
                {entry.jobId}
              </Link>,
            ],
            entry.jobId !== null && [
              'Other requests',
              <Link to={`/requests?${new URLSearchParams({ q: entry.jobId })}`}>
                All requests of this job
              </Link>,
            ],
          ]}
        />
      </Section>
      {entry.body !== null && (
        <Section id="body-heading" title="Request body" card>
          <p class="muted">URLs are stored without their query, other values are not stored.</p>
          <CopyableText label="Request body" text={entry.body} />
        </Section>
      )}
    </>,
  )
})

const ErrorHelp = ({ code }: { code: string }) => (
  <Notice kind={code === 'internal_error' ? 'bad' : 'info'}>
    <strong>{code}</strong>: {requestHint(code)}{' '}
    <a href={errorDocsPath(code)}>Read about this error</a>
  </Notice>
)
