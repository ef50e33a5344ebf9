// What an Organisation does for billing: it watches its credits, and its alarm runs the billing tasks.
import type { Totals } from '../credits/ledger.ts'
import type { OwnAccount } from '../credits/organisation-stub.ts'
import type { OrganisationRow } from '../platform/db/schema.ts'
import { isReloadDue } from './auto-reload-settings.ts'
import { BillingSchedule } from './billing-schedule.ts'
import { BillingState } from './billing-state.ts'
import { runBilling } from './run-billing.ts'

export class OrganisationBilling {
  readonly schedule: BillingSchedule
  readonly state: BillingState

  /** @param lastGrant reads the last grant from the ledger */
  constructor(kv: SyncKvStorage, lastGrant: () => number) {
    this.schedule = new BillingSchedule(kv)
    this.state = new BillingState(kv, lastGrant)
  }

  /** Call this when the storage is deleted. A run in progress stores nothing afterwards. */
  close(): void {
    this.schedule.close()
    this.state.close()
  }

  /**
   * Schedules the tasks if the credits require an email or an automatic payment.
   * @param isNoticeDue whether a limit of credits requires an email
   */
  watch(totals: Totals, organisation: OrganisationRow, isNoticeDue: boolean): void {
    const { state, schedule } = this
    const reloads = !state.autoReload.requested && isReloadDue(totals.balance, organisation)
    if (reloads) state.updateAutoReload({ requested: true })
    const isDue = reloads || isNoticeDue || this.#isBalanceNoticeDue(totals)
    if (isDue && !schedule.isRetrying) schedule.request(organisation.id, Date.now(), Date.now())
  }

  /**
   * Whether a capture requires the tasks.
   * @param isLate whether it has lowered the balance. The tasks read the settings of auto-reload themselves
   */
  watchCapture(totals: Totals, isLate: boolean): boolean {
    if (isLate) this.state.updateAutoReload({ requested: true })
    return isLate || this.#isBalanceNoticeDue(totals)
  }

  #isBalanceNoticeDue({ balance, reserved }: Totals): boolean {
    return this.state.noticeOf(balance + reserved) !== undefined
  }

  /** Runs the tasks if they are due. */
  async runDue(env: Env, account: OwnAccount): Promise<void> {
    const organisationId = this.schedule.start(Date.now())
    if (organisationId === undefined) return
    let result: Awaited<ReturnType<typeof runBilling>> = { nextAt: undefined, failed: true }
    try {
      result = await runBilling({ env, account, organisationId, state: this.state })
    } finally {
      this.schedule.finish(result, Date.now())
    }
  }
}
