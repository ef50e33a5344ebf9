import type { Child } from 'hono/jsx'
import type { NoticeKind } from '../form-notices.ts'

/** A message about the page or the last action. Screen readers announce it. */
export const Notice = ({ kind, children }: { kind: NoticeKind; children?: Child }) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)
