// The page that says why a link did not work.
import type { Child } from 'hono/jsx'
import { cardPage, type Anchor } from './components/layout.tsx'
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
