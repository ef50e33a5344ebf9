/** A job cannot go on now, for no reason of its own; it comes again with another message. */
export class Postponed extends Error {
  override readonly name = 'Postponed'
  readonly afterSeconds: number
  /** Whether nothing was done, so that it does not count as an attempt. */
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
