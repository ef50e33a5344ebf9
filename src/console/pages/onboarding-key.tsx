// The last step of onboarding: the first API key, which is shown once.
import { isFreeEmail } from '../../organisations/email-address.ts'
import { consolePath } from '../../domain/console-path.ts'
import type { Mode } from '../../domain/job.ts'
import { SAMPLE_PAIR, sampleUrl } from '../../domain/samples.ts'
import { baseUrlOf } from '../../http/base-url.ts'
import { settingsOf } from '../../platform/settings.ts'
import { CodeSnippets, CopyableText } from '../components/copyable-text.tsx'
import { Button, PostForm } from '../components/form.tsx'
import { Link, OrganisationPath, Notice, ButtonLink } from '../components/text.tsx'
import { cardPage, guestPage, Steps } from '../components/layout.tsx'
import type { ConsoleContext } from '../console-context.ts'
import { sampleValues } from '../playground-pictures.ts'
import { tryOnSnippets } from '../snippets.ts'

export const newKeyPage = (
  c: ConsoleContext,
  {
    organisationId,
    key,
    freeCredits,
  }: { organisationId: string; key: string; freeCredits: number },
) =>
  guestPage(
    { c, title: 'Your API key', wide: true },
    <OrganisationPath.Provider value={consolePath(organisationId)}>
      <article class="first-hour">
        <Steps current="key" />
        <h1>Your test API key</h1>
        <Notice kind="info">
          <strong>This key is shown only once.</strong> Store it in a safe place.{' '}
          {freeCredits > 0 && `Your organisation has ${freeCredits} free credits. `}
          Jobs in test mode are free.
        </Notice>
        {freeCredits === 0 && <NoFreeCredits c={c} />}
        <CopyableText label="Your test API key" text={key} />
        <LivePicture freeCredits={freeCredits} />
        <h2>Submit a job</h2>
        <p>
          This code works as it is. In test mode, the result is a placeholder, so that you can build
          your integration at no cost.
        </p>
        <CodeSnippets
          id="first-job"
          snippets={tryOnSnippets({
            baseUrl: baseUrlOf(c),
            apiKey: key,
            fields: sampleValues(c),
          })}
        />
        <div class="run">
          <SampleForm mode="test" label="Submit sample job" />
          <div data-run-result aria-live="polite"></div>
        </div>
        <p class="aside">
          <a href="/console" role="button" class="secondary to-console">
            I have stored the key. Go to the console
          </a>
          <a href="/docs/quick-start">Continue with the quick start</a>
        </p>
      </article>
    </OrganisationPath.Provider>,
  )

/** The last part of the first hour: a real picture, made from a sample pair. */
const LivePicture = ({ freeCredits }: { freeCredits: number }) => (
  <section class="card live-picture" aria-labelledby="live-picture">
    <h2 id="live-picture">Create your first live picture</h2>
    <p>
      {freeCredits > 0
        ? `See what your customers will see. This live job uses 1 of your ${freeCredits} free credits.`
        : 'A live job costs 1 credit, and your organisation has none yet. Buy credits to see a real result.'}
    </p>
    <div class="images">
      <figure>
        <span class="frame">
          <img src={sampleUrl('', SAMPLE_PAIR.model)} alt="A woman in a grey T-shirt" />
        </span>
        <figcaption>Person</figcaption>
      </figure>
      <figure>
        <span class="frame">
          <img src={sampleUrl('', SAMPLE_PAIR.garment)} alt="A striped T-shirt" />
        </span>
        <figcaption>Garment</figcaption>
      </figure>
      <div class="run" data-run-result aria-live="polite">
        <span class="frame">The result appears here</span>
      </div>
    </div>
    {freeCredits > 0 ? (
      <SampleForm mode="live" label="Create live picture" />
    ) : (
      <p>
        <ButtonLink to="/billing" kind="primary" label="Buy credits" />
      </p>
    )}
  </section>
)

/** console.js submits it and shows the job in the nearest place for results. */
const SampleForm = ({ mode, label }: { mode: Mode; label: string }) => (
  <PostForm
    to="/playground/sample"
    fields={{ nonce: crypto.randomUUID(), mode }}
    target="_blank"
    data-run
  >
    <Button kind={mode === 'live' ? 'primary' : 'secondary'}>{label}</Button>
  </PostForm>
)

/** Shown instead of the key when the key was shown before. */
export const storedKeyPage = (c: ConsoleContext, organisationName: string) =>
  cardPage(
    { c, title: 'Your API key', heading: `${organisationName} is ready`, step: 'key' },
    <>
      <p>
        Your first test key was already shown and cannot be shown again. If you did not store it,
        create a new key under API keys.
      </p>
      <p class="buttons">
        <ButtonLink to="/settings/api-keys" kind="primary" label="API keys" />
        <ButtonLink href="/console" label="Overview" />
      </p>
    </>,
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
