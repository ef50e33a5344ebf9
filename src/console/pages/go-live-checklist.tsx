// The steps from the first test job to production, on the overview until they are done or hidden.
import { getCookie, setCookie } from 'hono/cookie'
import { readGoLiveState } from '../../organisations/go-live.ts'
import { may, createApp, scopeOf, pathOf, type ConsoleContext } from '../console-context.ts'
import { ActionForm } from '../components/form.tsx'
import { cookieOptions, YEAR_SECONDS } from '../cookies.ts'
import { redirectTo } from '../form-notices.ts'
import { Link } from '../components/text.tsx'

/** Its value is the user who has hidden the list; its path is that of the organisation. */
const CHECKLIST_COOKIE = 'try-on.checklist'

interface Step {
  title: string
  isDone: boolean
  /** What the step is for, or what is done. */
  text: string
  /** The page of the step; without a label where the member's role does not permit it. */
  to: string
  label: string | null
}

/**
 * The steps of the organisation, or null if the list is not shown: all are done, the user has hidden it,
 * or has a role that takes no part in the integration.
 */
export async function goLiveSteps(
  c: ConsoleContext,
  creditStatus: Promise<{ balance: number }>,
): Promise<Step[] | null> {
  if (!may(c, 'develop') || getCookie(c, CHECKLIST_COOKIE) === c.var.user.id) return null
  const [state, { balance }] = await Promise.all([readGoLiveState(scopeOf(c)), creditStatus])
  const steps: Step[] = [
    {
      title: 'Create a live key',
      isDone: state.hasLiveKey,
      text: 'Your test key returns placeholders. A live key returns real results.',
      to: '/settings/api-keys',
      label: 'API keys',
    },
    {
      title: 'Receive a webhook',
      isDone: state.hasDelivery,
      text: state.hasWebhookUrl
        ? 'The URL is set. Send a test event to see that your server receives it.'
        : 'Set the URL that receives the results, and send a test event to it.',
      to: '/settings/webhooks',
      label: state.hasWebhookUrl ? 'Send a test event' : 'Set the URL',
    },
    {
      title: 'Complete a live job',
      isDone: state.hasLiveJob,
      text: 'Try it with sample pictures in the playground, or with your live key.',
      to: '/playground',
      label: 'Playground',
    },
    {
      title: 'Make sure that you have credits',
      isDone: state.hasBilling || balance > 0,
      text: 'Each completed live job costs 1 credit. Choose a plan or buy credits.',
      to: '/billing',
      label: may(c, 'billing') ? 'Billing' : null,
    },
  ]
  return steps.every(({ isDone }) => isDone) ? null : steps
}

export const GoLiveChecklist = ({ steps }: { steps: Step[] }) => {
  const done = steps.filter(({ isDone }) => isDone).length
  return (
    <section class="card checklist" aria-labelledby="checklist">
      <header>
        <h2 id="checklist">Go live</h2>
        <span class="muted">
          {done} of {steps.length} done
        </span>
        <ActionForm to="/checklist/hide" label="Hide" on="this list" />
      </header>
      <ol>
        {steps.map(({ title, isDone, text, to, label }) => (
          <li class={isDone ? 'done' : undefined}>
            <div>
              <strong>{title}</strong> {isDone && <span class="visually-hidden">(done)</span>}
              {!isDone && <p>{text}</p>}
            </div>
            {!isDone && label !== null && <Link to={to}>{label}</Link>}
          </li>
        ))}
      </ol>
    </section>
  )
}

export const checklist = createApp().post('/hide', (c) => {
  setCookie(c, CHECKLIST_COOKIE, c.var.user.id, {
    ...cookieOptions(c, YEAR_SECONDS),
    path: pathOf(c, ''),
  })
  return redirectTo(c, '')
})
