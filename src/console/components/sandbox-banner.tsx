/** States that payments are not real. Shown on all pages of the sandbox and on Billing. */
export const SandboxBanner = () => (
  <aside class="notice sandbox">
    <strong>Sandbox payments: no money moves.</strong>
  </aside>
)
