export type RefusalCode = 'person_not_found' | 'garment_not_found' | 'generation_failed'

/** The images cannot be composed, or the composed picture must not be delivered. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode

  /** @param reason a sentence for developers */
  constructor(code: RefusalCode, reason: string) {
    super(reason)
    this.code = code
  }
}
