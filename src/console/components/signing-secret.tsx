// The signing secret of webhooks: reveals and rotates it, and shows code that verifies signatures.
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts'
import type { EndpointRow } from '../../platform/db/webhook-schema.ts'
import { mayInAllWorkspaces, type ConsoleContext } from '../console-context.ts'
import { verifySnippets, type Snippet } from '../snippets.ts'
import { CodeSnippets, CopyableText } from './copyable-text.tsx'
import { ActionForm } from './form.tsx'
import { Section } from './section.tsx'
import { Timestamp } from './text.tsx'

interface SigningSecretProps {
  c: ConsoleContext
  endpoint: EndpointRow
  revealed: string | undefined
}

export const SigningSecret = async ({ c, endpoint, revealed }: SigningSecretProps) => {
  const { id, secretPreviousUntil: previousUntil } = endpoint
  const isDefault = id === DEFAULT_ENDPOINT
  const page = `/settings/webhooks${isDefault ? '' : `/endpoints/${id}`}`
  const overlapping = previousUntil !== null && previousUntil.getTime() > Date.now()
  return (
    <Section id="secret-heading" title="Signing secret" card>
      <p>
        {isDefault
          ? 'Deliveries to the default URL and to URLs of jobs are signed'
          : 'Deliveries to this endpoint are signed'}{' '}
        according to <a href="https://www.standardwebhooks.com">Standard Webhooks</a>. Verify the
        signature with this secret.
      </p>
      {revealed === undefined ? (
        <p>
          <code>whsec_••••••••</code>
        </p>
      ) : (
        <CopyableText label="Signing secret" text={revealed} />
      )}
      {overlapping && (
        <p class="muted">
          Deliveries are also signed with the previous secret until <Timestamp at={previousUntil} />
          .
        </p>
      )}
      {mayInAllWorkspaces(c, 'develop') ? (
        <div class="buttons">
          {revealed === undefined && (
            <ActionForm to={`${page}/reveal`} label="Reveal" on="the signing secret" />
          )}
          <ActionForm
            to={`${page}/rotate`}
            label="Rotate"
            on="the signing secret"
            kind="danger"
            confirm={
              overlapping ? (
                <>
                  Create a new secret? For 24 hours, deliveries are signed with the new and the
                  current secret. <strong>The previous secret stops working immediately</strong>,
                  not at the time above. Endpoints that still use it will reject deliveries.
                </>
              ) : (
                'Create a new secret? For 24 hours, deliveries are signed with both the new and the current secret.'
              )
            }
          />
        </div>
      ) : (
        <p class="muted">Only owners and developers can reveal and rotate the signing secret.</p>
      )}
      <VerifyCode secret={revealed} snippets={await verifySnippets(c)} />
    </Section>
  )
}

const VerifyCode = ({ secret, snippets }: { secret: string | undefined; snippets: Snippet[] }) =>
  snippets.length === 0 ? null : (
    <details class="verify" open={secret !== undefined}>
      <summary>Verify signatures in your code</summary>
      <p>
        Set the secret in the environment of your server.
        {secret === undefined && ' Reveal the secret to include it here.'}
      </p>
      <CopyableText
        label="Environment variable"
        text={`export TRY_ON_WEBHOOK_SECRET=${secret ?? 'whsec_...'}`}
      />
      <p>
        Then verify each request before you use it. This code needs no packages. The{' '}
        <a href="/docs/webhooks#verify-the-signature">webhooks guide</a> explains it.
      </p>
      <CodeSnippets id="verify" snippets={snippets} />
    </details>
  )
