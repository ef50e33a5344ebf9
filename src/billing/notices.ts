// Informs owners and billing members about a low or empty balance, once each until the next grant.
import type { OrganisationRow } from '../db/schema.ts'
import { currencyOf } from '../domain/organisation.ts'
import { emptyBalanceEmail, lowBalanceEmail } from '../mail/billing.tsx'
import { thresholdOf } from './auto-reload-settings.ts'
import { mailRecipients } from '../notifications/notify.ts'
import type { BillingState } from './billing-state.ts'
import { billingUrl } from './mail-owners.ts'
import { formatCredits } from './money.ts'

/**
 * Sends the email that is due, if any, and then records it.
 * @throws Error when it could not be sent; the next call sends it
 */
export async function sendBalanceNotice({
  env,
  account,
  organisation,
  state,
}: {
  env: Env
  account: { totals(): { balance: number } }
  organisation: OrganisationRow
  state: BillingState
}): Promise<void> {
  const { balance } = account.totals()
  const notice = state.noticeOf(balance)
  if (notice === undefined || organisation.deleteAfter !== null) return
  const { id, name: organisationName, autoReloadEnabled } = organisation
  const format = (credits: number) => formatCredits(credits, currencyOf(organisation.regionCode))
  const link = billingUrl(env, id)
  const email =
    notice === 'empty'
      ? emptyBalanceEmail({ organisationName, link })
      : lowBalanceEmail({
          organisationName,
          credits: format(balance),
          reloadBelow: autoReloadEnabled ? format(thresholdOf(organisation)) : null,
          link,
        })
  const isSent = await mailRecipients({ env, organisationId: id, kind: 'low_balance', email })
  if (!isSent) throw new Error('The email was not sent')
  state.recordNotice(notice)
}
