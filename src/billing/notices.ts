// Informs owners and billing members that few or no credits are left, once each until the next grant. Reserved
// credits are left: they return if their jobs fail.
import type { OrganisationRow } from '../platform/db/schema.ts'
import { currencyOf } from '../domain/organisation.ts'
import { emptyBalanceEmail, lowBalanceEmail } from '../mail/billing-mail.tsx'
import type { OwnAccount } from '../credits/organisation-stub.ts'
import { thresholdOf } from './auto-reload-settings.ts'
import { mailRecipients } from '../mail/notify.ts'
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
  account: Pick<OwnAccount, 'totals'>
  organisation: OrganisationRow
  state: BillingState
}): Promise<void> {
  const { balance, reserved } = account.totals()
  const notice = state.noticeOf(balance + reserved)
  if (notice === undefined || organisation.deleteAfter !== null) return
  const { id, name: organisationName, autoReloadEnabled } = organisation
  const format = (credits: number) => formatCredits(credits, currencyOf(organisation.regionCode))
  const link = billingUrl(env, id)
  const email =
    notice === 'empty'
      ? emptyBalanceEmail({ organisationName, link })
      : lowBalanceEmail({
          organisationName,
          credits: format(balance + reserved),
          reloadBelow: autoReloadEnabled ? format(thresholdOf(organisation)) : null,
          link,
        })
  const isSent = await mailRecipients({ env, organisationId: id, kind: 'low_balance', email })
  if (!isSent) throw new Error('The email was not sent')
  state.recordNotice(notice)
}
