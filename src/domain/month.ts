// Calendar months in UTC.

/** The first instant of the calendar month (UTC) of `at`, or of a later month. */
export const monthStart = (at: Date, monthsLater = 0): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + monthsLater))

/** The calendar month (UTC) of `at`, such as `2026-11`. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 'YYYY-MM'.length)
