// The last step of onboarding: the first API key, which is shown once.
import { isFreeEmail } from '../../accounts/email-address.ts'
import { consolePath } from '../../domain/console-path.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { settingsOf } from '../../settings.ts'
import { CopyableText } from '../components/copyable-text.tsx'
import { Button, PostForm } from '../components/form.tsx'
import { Link, OrganisationPath } from '../components/link.tsx'
import { guestPage } from '../components/layout.tsx'
import { Notice } from '../components/notice.tsx'
import { Steps } from '../components/steps.tsx'
import type { ConsoleContext } from '../context.ts'

export const newKeyPage = (
  c: ConsoleContext,
  organisationId: string,
  { key, freeCredits }: { key: string; freeCredits: number },
) =>
  guestPage(
    c,
    { title: 'Your API key' },
    <article>
      <Steps current="key" />
      <h1>Your test API key</h1>
      <Notice kind="info">
        <strong>This key is shown only once.</strong> Store it in a safe place.{' '}
        {freeCredits > 0 && `Your organisation has ${freeCredits} free credits. `}
        Jobs in test mode are free.
      </Notice>
      {freeCredits === 0 && <NoFreeCredits c={c} />}
      <CopyableText label="Your test API key" text={key} />
      <h2>Submit a job from a terminal</h2>
      <CopyableText label="A command that submits a job" text={curlOf(baseUrlOf(c), key)} />
      <h2>Or submit a job here</h2>
      <OrganisationPath.Provider value={consolePath(organisationId)}>
        <PostForm to="/playground/sample" target="_blank" data-run>
          <input type="hidden" name="nonce" value={crypto.randomUUID()} />
          <Button kind="secondary">Submit sample job</Button>
        </PostForm>
      </OrganisationPath.Provider>
      <div data-run-result aria-live="polite"></div>
      <p class="aside">
        <a href="/console">I have stored the key. Go to the console</a>
        <br />
        <a href="/docs/quick-start">Continue with the quick start</a>
      </p>
    </article>,
  )

/** Shown instead of the key when the key was shown before. */
export const storedKeyPage = (c: ConsoleContext, organisationName: string) =>
  guestPage(
    c,
    { title: 'Your API key' },
    <article>
      <Steps current="key" />
      <h1>{organisationName} is ready</h1>
      <p>
        Your first test key was already shown and cannot be shown again. If you did not store it,
        create a new key under API keys.
      </p>
      <p class="buttons">
        <Link to="/settings/api-keys" role="button">
          API keys
        </Link>
        <a href="/console" role="button" class="secondary">
          Overview
        </a>
      </p>
    </article>,
  )

const NoFreeCredits = ({ c }: { c: ConsoleContext }) => {
  const { allowFreeEmail, supportEmail } = settingsOf(c.env)
  const reason = () => {
    if (!isFreeEmail(c.var.user.email)) {
      return 'Your company’s domain has already received its free credits.'
    }
    return allowFreeEmail
      ? 'Your email address has already received its free credits.'
      : 'Free credits are for work email addresses.'
  }
  return (
    <Notice kind="info">
      <strong>Your organisation has no credits yet.</strong> {reason()} To run live jobs,{' '}
      <Link to="/billing">buy credits</Link> or{' '}
      {supportEmail ? <a href={`mailto:${supportEmail}`}>contact support</a> : 'contact support'}.
    </Notice>
  )
}

const curlOf = (baseUrl: string, key: string) => `curl ${baseUrl}/v1/tryon \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -H 'Prefer: wait=10' \\
  -d '{
    "model_image_url": "https://shop.example/model.jpg",
    "garment_image_url": "https://shop.example/shirt.png"
  }'`
