// Runs a Postman collection with newman.
import newman from 'newman'

/**
 * Sends the requests of a collection in order.
 * @param variables replace those of the collection
 * @param folder has the files that the requests upload
 * @returns each request with its status and its failed tests
 * @throws Error if the collection is not valid
 */
export function runCollection(
  file: string,
  variables: Record<string, string>,
  folder: string,
): Promise<{ name: string; status: number | undefined; failures: string[] }[]> {
  const envVar = Object.entries(variables).map(([key, value]) => ({ key, value }))
  return new Promise((resolve, reject) => {
    newman.run({ collection: file, envVar, workingDir: folder }, (error, summary) => {
      if (error) return reject(error)
      resolve(
        summary.run.executions.map(({ item, response, requestError, assertions = [] }) => ({
          name: item.name,
          status: response?.code,
          failures: [requestError, ...assertions.map((assertion) => assertion.error)].flatMap(
            (failure) => (failure ? [failure.message] : []),
          ),
        })),
      )
    })
  })
}
