// The service that `npm test` starts for the tests in Node, and for those in browsers (scripts/test-service.ts).
export const OPERATOR_TOKEN = 'node-tests-operator-token-of-32-characters'

/** The response of POST /operator/organisations. */
export interface NewOrganisation {
  org_id: string
  webhook_secret: string
  workspaces: { id: string; name: string }[]
  api_keys: { test: string; live: string }
}

export interface Service {
  url: string
  /** Sends a request to the operator API. @throws Error unless the response is 2xx */
  operator<T>(method: string, path: string, body?: object): Promise<T>
  newOrganisation(settings?: object): Promise<NewOrganisation>
  /** Runs statements of SQL on the database, in one transaction. Other files use the same database. */
  sql(command: string): Promise<void>
}

/** The service that all files of this kind share. @throws Error outside of `npm test` */
export function sharedService(): Service {
  const { TEST_SERVICE_URL: url, TEST_SQL_URL: sqlUrl } = process.env
  if (!url || !sqlUrl) throw new Error('Run these tests with `npm test -- FOLDER`.')
  return connectTo(url, async (command) => {
    const response = await fetch(sqlUrl, { method: 'POST', body: command })
    if (!response.ok) throw new Error(await response.text())
  })
}

export function connectTo(url: string, sql: Service['sql']): Service {
  async function operator<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${url}/operator${path}`, {
      method,
      headers: { Authorization: `Bearer ${OPERATOR_TOKEN}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (response.status === 204 ? undefined : await response.json()) as T
  }
  return {
    url,
    operator,
    newOrganisation: (body = {}) =>
      operator('POST', '/organisations', { name: 'Acme Fashion', ...body }),
    sql,
  }
}
