// The pages of errors. A member keeps the navigation, and every page shows the request ID and support.
import { ButtonLink } from './components/text.tsx'
import { HTTPException } from 'hono/http-exception'
import type { Child } from 'hono/jsx'
import { ConsoleNotSetUp } from '../users/auth.ts'
import { AppError } from '../domain/errors.ts'
import { SemaphoreTimeout } from '../platform/concurrency/semaphore.ts'
import { log } from '../platform/log.ts'
import { settingsOf } from '../platform/settings.ts'
import { CopyableId } from './components/copyable-text.tsx'
import {
  cardPage,
  guestPage,
  memberPage,
  type Anchor,
  type PageOptions,
} from './components/layout.tsx'
import { Filters } from './components/section.tsx'
import { may, pathOf, type ConsoleContext } from './console-context.ts'

/** The page for an error that a handler threw. Logs errors that are not the caller's. */
export function pageOfError(error: Error, c: ConsoleContext) {
  if (error instanceof HTTPException && error.res) return error.res
  if (error instanceof AppError && error.code === 'not_found') return notFoundPage(c)
  if (error instanceof AppError && error.code === 'deletion_scheduled') {
    return errorPage({ c, status: 409, title: 'No changes were saved' }, error.message)
  }
  if (error instanceof AppError && error.code === 'validation_error') {
    return errorPage({ c, status: 422, title: 'No changes were saved' }, error.message)
  }
  if (error instanceof HTTPException && error.status === 403) {
    const reason = 'The form was not sent from the console.'
    return errorPage({ c, status: 403, title: 'Request rejected' }, reason)
  }
  if (error instanceof ConsoleNotSetUp) {
    log.error('console not set up', error)
    return errorPage({ c, status: 503, title: 'The console is not set up' }, error.visitorMessage)
  }
  if (error instanceof SemaphoreTimeout) {
    const advice = 'Many others use the service right now. Try again in a minute.'
    return errorPage({ c, status: 503, title: 'The service is busy' }, advice)
  }
  log.error('console request failed', error)
  const advice = `Something went wrong on our side. Try again. If the problem persists, contact support with the request ID ${c.var.requestId}.`
  return errorPage({ c, status: 500, title: 'Something went wrong' }, advice)
}

export function notFoundPage(c: ConsoleContext) {
  const membership = c.get('membership')
  const isBilling = membership && c.req.path.startsWith(pathOf(c, '/billing'))
  const [title, message] =
    isBilling && !may(c, 'billing')
      ? [
          'No access to Billing',
          'Billing is for owners and for members with the role billing. Ask an owner.',
        ]
      : ['Page not found', 'This page does not exist, or you do not have access to it.']
  return errorPage({ c, status: 404, title }, message)
}

export const tooLargePage = (c: ConsoleContext) =>
  errorPage({ c, status: 413, title: 'Form too large' }, 'The form is too large.')

/** For a link of an email that cannot be used. @param message how long such links are valid */
export const invalidLinkPage = (c: ConsoleContext, message: Child, [href, text]: Anchor) =>
  cardPage(
    { c, title: 'Invalid link', heading: 'This link is invalid or has expired', status: 403 },
    <>
      <p>{message}</p>
      <ButtonLink href={href} kind="primary" label={text} />
    </>,
  )

async function errorPage(page: PageOptions, message: string) {
  const { c, status, title } = page
  const { requestId } = c.var
  const { supportEmail } = settingsOf(c.env)
  const isMember = c.get('membership') !== undefined
  const content = (
    <article>
      <h1>{title}</h1>
      <p>{message}</p>
      {/* A common reason for a missing page is a job of another address. */}
      {isMember && status === 404 && may(c, 'jobs') && (
        <Filters
          to="/jobs"
          query={{}}
          search={{ label: 'Find a job by its ID', placeholder: 'job_…', maxlength: 64 }}
          submit="Find job"
        />
      )}
      <p>
        <a href={isMember ? pathOf(c, '') : '/console'}>Back to the console</a>
      </p>
      {/* What support needs to find the request in the log. */}
      <p class="reference">
        Request ID <CopyableId id={requestId} label="request ID" />
        {supportEmail && (
          <>
            {' '}
            <a
              href={`mailto:${supportEmail}?subject=${encodeURIComponent(`Request ${requestId}`)}`}
            >
              Contact support
            </a>
          </>
        )}
      </p>
    </article>
  )
  // The banner of the credits is left out, because its data may be what failed.
  return isMember
    ? memberPage({ ...page, heading: null, credits: null }, content)
    : guestPage(page, content)
}
