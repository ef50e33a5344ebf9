/** A file that no decoder should be given. */
export interface Corrupt {
  /** For the log. */
  corrupt: string
}

export const corrupt = (reason: string): Corrupt => ({ corrupt: reason })
