// A page of a list. A store reads `limit + 1` rows; the extra row shows that there are more.

export interface Page<Row> {
  rows: Row[]
  hasMore: boolean
}

/** Cuts a page from rows that were read with a limit of `limit + 1`. */
export const pageOf = <Row>(rows: Row[], limit: number): Page<Row> => ({
  rows: rows.slice(0, limit),
  hasMore: rows.length > limit,
})
