// The sections of Billing for buying credits and for auto-reload.
import { autoReloadSettings } from '../../billing/auto-reload-settings.ts'
import { formatCredits, formatMoney, MINOR_UNITS, nameOfPack } from '../../billing/money.ts'
import { PACKS, packPriceFor } from '../../billing/plans.ts'
import type { Pack } from '../../billing/plans.ts'
import { currencyOf } from '../../domain/organisation.ts'
import { Button, Field, FormError, PostForm } from '../components/form.tsx'
import type { BillingView } from './billing-view.ts'

/** The currency of the organisation, and the price of its packs. */
function pricesOf({ c, account }: BillingView) {
  const { organisation } = c.var.membership
  return {
    currency: currencyOf(organisation.regionCode),
    priceOf: (pack: Pack) => packPriceFor(organisation, account?.enterpriseTerms, pack),
  }
}

/** The pack whose button is the primary one. */
const USUAL_PACK: Pack = 500

/** The section for buying a pack. */
export const Packs = ({ view }: { view: BillingView }) => {
  const { currency, priceOf } = pricesOf(view)
  return (
    <section aria-labelledby="packs-heading">
      <h2 id="packs-heading">Buy credits</h2>
      <FormError state={view.stateOf('packs')} />
      <div class="packs">
        {PACKS.map((pack) => {
          const amount = priceOf(pack)
          const credits = nameOfPack(pack, currency)
          const price = formatMoney(amount, currency)
          return (
            <PostForm to="/billing/packs" class="pack">
              <input type="hidden" name="pack" value={String(pack)} />
              <input type="hidden" name="amount" value={String(amount)} />
              <input type="hidden" name="currency" value={currency} />
              <h3>{credits}</h3>
              <p class="price">{price}</p>
              <p class="muted">{formatMoney(amount / pack, currency)} per credit</p>
              <Button
                kind={pack === USUAL_PACK ? 'primary' : 'secondary'}
                disabled={view.problem !== null}
                ariaLabel={`Buy ${credits} for ${price}`}
              >
                Buy
              </Button>
            </PostForm>
          )
        })}
      </div>
      <p class="muted">
        Prices exclude tax. Credits do not expire. The <a href="/docs/billing">billing guide</a>{' '}
        explains what costs a credit.
      </p>
    </section>
  )
}

/** The settings of auto-reload. */
export const AutoReloadForm = ({ view }: { view: BillingView }) => {
  const { currency, priceOf } = pricesOf(view)
  const state = view.stateOf('auto-reload')
  const { organisation } = view.c.var.membership
  const settings = autoReloadSettings(organisation, view.account?.enterpriseTerms)
  const pack = state.values?.['pack'] ?? String(settings.pack)
  const isEnabled = state.values
    ? state.values['enabled'] !== undefined
    : organisation.autoReloadEnabled
  return (
    <section id="auto-reload" class="card" aria-labelledby="auto-reload-heading">
      <h2 id="auto-reload-heading">Auto-reload</h2>
      <p>
        Buys a pack with the stored payment method when the balance falls below the threshold. At
        most one payment is attempted per hour. After three failed payments in a row, auto-reload is
        turned off and the owners are notified by email.
      </p>
      <PostForm to="/billing/auto-reload" novalidate>
        <FormError state={state} />
        <div class="field">
          <label class="switch">
            <input type="checkbox" role="switch" name="enabled" checked={isEnabled || undefined} />
            Turn on auto-reload
          </label>
          {!view.account?.paymentMethod && (
            <small>Requires a payment method, which is stored when you buy credits.</small>
          )}
        </div>
        <div class="fields">
          <Field
            name="threshold"
            label="When the balance is below"
            type="number"
            value={String(settings.threshold)}
            hint="Credits"
            state={state}
          />
          <div class="field">
            <label for="pack">Buy</label>
            <select id="pack" name="pack">
              {PACKS.map((size) => (
                <option value={String(size)} selected={String(size) === pack || undefined}>
                  {formatCredits(size, currency)} credits for {formatMoney(priceOf(size), currency)}
                </option>
              ))}
            </select>
          </div>
          <Field
            name="monthly_max"
            label={`Monthly maximum in ${currency}`}
            type="number"
            value={String(Math.ceil(settings.monthlyMax / MINOR_UNITS))}
            hint={`${formatMoney(view.autoReloadSpent, currency)} spent this month`}
            state={state}
          />
        </div>
        <Button kind="secondary">Save</Button>
      </PostForm>
    </section>
  )
}
