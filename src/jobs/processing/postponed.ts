/** A job has to wait for resources of the service. Another message continues it. */
export class Postponed extends Error {
  override readonly name = 'Postponed'
  readonly afterSeconds: number
  /** Whether nothing was done, so that this does not count as an attempt. */
  readonly isUntouched: boolean

  constructor(reason: string, { afterSeconds, isUntouched = false }: PostponedOptions) {
    super(reason)
    this.afterSeconds = afterSeconds
    this.isUntouched = isUntouched
  }
}

interface PostponedOptions {
  afterSeconds: number
  isUntouched?: boolean
}
