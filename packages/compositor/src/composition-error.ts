export type CompositionErrorCode = 'person_not_found' | 'garment_not_found' | 'generation_failed'

/** The images cannot be composed, or the composed picture must not be delivered. */
export class CompositionError extends Error {
  override readonly name = 'CompositionError'
  readonly code: CompositionErrorCode

  /** @param reason a sentence for developers */
  constructor(code: CompositionErrorCode, reason: string) {
    super(reason)
    this.code = code
  }
}
