// The sections of Billing for buying credits and for auto-reload.
import { MINOR_UNITS, nameOfPack } from '../../billing/money.ts'
import { PACKS, type Pack } from '../../billing/plans.ts'
import { Button, Field, FormError, PostForm, Select } from '../components/form.tsx'
import { Section } from '../components/section.tsx'
import type { BillingView } from './billing-view.ts'

/** The pack whose button is the primary one. */
const USUAL_PACK: Pack = 500

/** The section for buying a pack. */
export const Packs = ({ view }: { view: BillingView }) => {
  const { currency, money } = view
  return (
    <Section id="packs-heading" title="Buy credits">
      <FormError state={view.stateOf('packs')} />
      <div class="packs">
        {PACKS.map((pack) => {
          const amount = view.priceOf(pack)
          const credits = nameOfPack(pack, currency)
          const fields = { pack: String(pack), amount: String(amount), currency }
          return (
            <PostForm to="/billing/packs" class="pack" fields={fields}>
              <h3>{credits}</h3>
              <p class="price">{money(amount)}</p>
              <p class="muted">{money(amount / pack)} per credit</p>
              <Button
                kind={pack === USUAL_PACK ? 'primary' : 'secondary'}
                disabled={view.problem !== null}
                ariaLabel={`Buy ${credits} for ${money(amount)}`}
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
    </Section>
  )
}

/** The settings of auto-reload. */
export const AutoReloadForm = ({ view }: { view: BillingView }) => {
  const { currency, money, count, priceOf, autoReload } = view
  const state = view.stateOf('auto-reload')
  const isEnabled = state.values
    ? state.values['enabled'] !== undefined
    : view.organisation.autoReloadEnabled
  return (
    <section id="auto-reload" class="card" aria-labelledby="auto-reload-heading">
      <h2 id="auto-reload-heading">Auto-reload</h2>
      <p>
        Buys a pack with the stored payment method when the balance falls below the threshold. At
        most one payment is attempted per hour. After three failed payments in a row, auto-reload is
        turned off and the owners are notified by email.
      </p>
      <PostForm to="/billing/auto-reload" state={state}>
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
            value={String(autoReload.threshold)}
            hint="Credits"
          />
          <Select
            name="pack"
            label="Buy"
            value={String(autoReload.pack)}
            options={PACKS.map((size) => [
              String(size),
              `${count(size)} credits for ${money(priceOf(size))}`,
            ])}
          />
          <Field
            name="monthly_max"
            label={`Monthly maximum in ${currency}`}
            type="number"
            value={String(Math.ceil(autoReload.monthlyMax / MINOR_UNITS))}
            hint={`${money(view.autoReloadSpent)} spent this month`}
          />
        </div>
        <Button kind="secondary">Save</Button>
      </PostForm>
    </section>
  )
}
