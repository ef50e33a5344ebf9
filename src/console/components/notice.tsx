import type { Child } from 'hono/jsx'

/** A message about the page or the last action. Screen readers announce it. */
export const Notice = ({ kind, children }: { kind: 'good' | 'bad' | 'info'; children?: Child }) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)
