/** A file that must not be passed to a decoder. */
export interface Corrupt {
  /** The reason, for the log. */
  corrupt: string
}

export const corrupt = (reason: string): Corrupt => ({ corrupt: reason })
