// Warns on every page of the console when the credits run out.
import { formatCredits } from '../../billing/money.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { log } from '../../platform/log.ts'
import type { CreditStatus } from '../../credits/rpc.ts'
import { organisationStub } from '../../credits/organisation-stub.ts'
import { may, type ConsoleContext } from '../console-context.ts'
import { Link } from './text.tsx'

/** @returns null for a posted form, and when the status cannot be read: a page does not depend on it */
export async function creditStatusOf(c: ConsoleContext): Promise<CreditStatus | null> {
  if (c.req.method !== 'GET') return null
  const organisationId = c.var.membership.organisation.id
  try {
    return await organisationStub(c.env, organisationId).creditStatus()
  } catch (error) {
    log.error('credit status not read', error, { organisationId })
    return null
  }
}

/** Is empty while there are enough credits, and when the organisation cannot buy any. */
export const CreditBanner = ({ c, status }: { c: ConsoleContext; status: CreditStatus }) => {
  const { organisation } = c.var.membership
  if (status.level === 'ok' || organisation.deleteAfter) return null
  const balance = formatCredits(status.balance, currencyOf(organisation.regionCode))
  const isEmpty = status.level === 'empty'
  return (
    <aside class={isEmpty ? 'notice bad' : 'notice warning'} role={isEmpty ? 'alert' : 'status'}>
      <strong>
        {isEmpty
          ? `The credit balance is ${balance}.`
          : `Only ${balance} ${status.balance === 1 ? 'credit is' : 'credits are'} left.`}
      </strong>{' '}
      {isEmpty && 'Live jobs are rejected. '}
      {may(c, 'billing') ? (
        <Link to="/billing">Buy credits</Link>
      ) : (
        'An owner or a member with the role billing can buy credits.'
      )}
    </aside>
  )
}
