// What an Organisation stores for its billing tasks besides credits: the notices about its balance and
// the state of auto-reload. Stored in the object's key-value storage, cached in memory.
import type { BalanceLevel } from '../credits/rpc.ts'
import type { Pack } from './plans.ts'

/** The storage keys. */
const NOTICES = 'balance-notices'
const AUTO_RELOAD = 'auto-reload'

/** The part of the last grant at which the balance is low. */
const LOW_SHARE = 0.2

/** From the best to the worst. */
const BALANCE_LEVELS: readonly BalanceLevel[] = ['ok', 'low', 'empty']

interface BalanceNotices {
  /** Credits; 0 before the first grant. */
  lastGrant: number
  /** The worst level since the last grant of which the owners were informed. */
  informed: BalanceLevel
}

export interface AutoReloadState {
  /**
   * Whether a submission found the balance below the threshold. A refund alone does not start a payment.
   */
  requested: boolean
  /** The payment whose outcome is not known yet. */
  attempt: {
    paymentId: string
    pack: Pack
    /** Minor units. */
    amount: number
    /** Whether it was counted as a failure because it waits for a confirmation. */
    isCounted?: boolean
  } | null
  /** When the latest attempt started, ms since 1970; 0 before the first one. */
  attemptedAt: number
  /** Failed attempts in a row. */
  failures: number
  /** The month, such as `2026-11`, in which the owners were informed that its maximum is reached. */
  maximumMailMonth: string | null
}

const NO_AUTO_RELOAD: AutoReloadState = {
  requested: false,
  attempt: null,
  attemptedAt: 0,
  failures: 0,
  maximumMailMonth: null,
}

export class BillingState {
  /** undefined after `close`. */
  #kv: SyncKvStorage | undefined
  #notices: BalanceNotices | undefined
  #autoReload: AutoReloadState | undefined
  readonly #lastGrant: () => number

  /** @param lastGrant reads the last grant from the ledger, for objects that have not stored it */
  constructor(kv: SyncKvStorage, lastGrant: () => number) {
    this.#kv = kv
    this.#lastGrant = lastGrant
  }

  /** Ignores all further changes. Call this when the storage is deleted, since a task may be running. */
  close(): void {
    this.#kv = undefined
  }

  /** @param credits not consumed: reserved ones may return */
  levelOf(credits: number): BalanceLevel {
    if (credits <= 0) return 'empty'
    return credits <= this.#currentNotices.lastGrant * LOW_SHARE ? 'low' : 'ok'
  }

  /** Records a grant. The owners are informed again once the balance falls from its new level. */
  recordGrant(amount: number, balance: number): void {
    const { informed } = this.#currentNotices
    this.#saveNotices({ lastGrant: amount, informed })
    const level = this.levelOf(balance)
    if (isWorse(informed, level)) this.#saveNotices({ lastGrant: amount, informed: level })
  }

  /** The level of which the owners have to be informed, if any. @param credits not consumed */
  noticeOf(credits: number): 'low' | 'empty' | undefined {
    const level = this.levelOf(credits)
    const { lastGrant, informed } = this.#currentNotices
    // An organisation that never had credits is not informed that they are used up.
    return level !== 'ok' && lastGrant > 0 && isWorse(level, informed) ? level : undefined
  }

  recordNotice(informed: BalanceLevel): void {
    this.#saveNotices({ ...this.#currentNotices, informed })
  }

  get autoReload(): AutoReloadState {
    this.#autoReload ??= this.#kv?.get<AutoReloadState>(AUTO_RELOAD) ?? NO_AUTO_RELOAD
    return this.#autoReload
  }

  updateAutoReload(change: Partial<AutoReloadState>): void {
    this.#autoReload = { ...this.autoReload, ...change }
    this.#kv?.put(AUTO_RELOAD, this.#autoReload)
  }

  get #currentNotices(): BalanceNotices {
    this.#notices ??= this.#kv?.get<BalanceNotices>(NOTICES) ?? {
      lastGrant: this.#lastGrant(),
      informed: 'ok',
    }
    return this.#notices
  }

  #saveNotices(notices: BalanceNotices): void {
    this.#notices = notices
    this.#kv?.put(NOTICES, notices)
  }
}

const isWorse = (level: BalanceLevel, than: BalanceLevel): boolean =>
  BALANCE_LEVELS.indexOf(level) > BALANCE_LEVELS.indexOf(than)
