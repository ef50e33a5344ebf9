/** The first row that a statement on an Organisation's SQLite returns. */
export const firstRow = <Row>(
  sql: SqlStorage,
  query: string,
  ...values: SqlStorageValue[]
): Row | undefined => sql.exec<Row & Record<string, SqlStorageValue>>(query, ...values).toArray()[0]
