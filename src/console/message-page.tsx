// Short pages that say why a link or a form did not work.
import type { Child } from 'hono/jsx'
import { cardPage, guestPage, memberPage, type Anchor } from './components/layout.tsx'
import type { ConsoleContext } from './console-context.ts'

/** For a link of an email that cannot be used. @param message how long such links are valid */
export const invalidLinkPage = (c: ConsoleContext, message: Child, [href, text]: Anchor) =>
  cardPage(
    c,
    { title: 'Invalid link', heading: 'This link is invalid or has expired', status: 403 },
    <>
      <p>{message}</p>
      <a href={href} role="button">
        {text}
      </a>
    </>,
  )

/** A time to wait, such as "5 minutes". */
export function inMinutes(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
}

/** The page with status 429, and the header Retry-After. @param title what there was too much of */
export function waitPage(
  c: ConsoleContext,
  title: string,
  waitSeconds: number,
  [href, text]: Anchor,
) {
  c.header('Retry-After', String(waitSeconds))
  const page = c.get('membership') === undefined ? guestPage : memberPage
  return page(
    c,
    { title, status: 429 },
    <article>
      <h1>{title}</h1>
      <p>Wait {inMinutes(waitSeconds)} and try again.</p>
      <a href={href}>{text}</a>
    </article>,
  )
}
