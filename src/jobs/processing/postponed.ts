/** A job has to wait for resources of the service. Another message continues it. */
export class Postponed extends Error {
  override readonly name = 'Postponed'
  readonly afterSeconds: number
  /** Whether nothing was done, so that this does not count as an attempt. */
  readonly isUntouched: boolean

  constructor(reason: string, options: { afterSeconds: number; isUntouched?: boolean }) {
    super(reason)
    this.afterSeconds = options.afterSeconds
    this.isUntouched = options.isUntouched ?? false
  }
}
