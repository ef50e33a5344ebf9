// Messages about a page.
import type { Child } from 'hono/jsx'
import type { NoticeKind } from '../form-notices.ts'

/** A message about the page or the last action. Screen readers announce it. */
export const Notice = ({ kind, children }: { kind: NoticeKind; children?: Child }) => (
  <p class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </p>
)

/** States that payments are not real. Shown on all pages of the sandbox and on Billing. */
export const SandboxBanner = () => (
  <aside class="notice sandbox">
    <strong>Sandbox payments: no money moves.</strong>
  </aside>
)
