// What the service knows about its documentation site.

/**
 * The origin of the service in examples of the guides and of the OpenAPI document. The site and the
 * published document replace it by the real one.
 */
export const EXAMPLE_ORIGIN = 'https://try-on.example'

/** The archives of the clients below /downloads (scripts/downloads.ts). */
export const CLIENT_ARCHIVE = 'try-on-client-0.4.0.tgz'
export const PYTHON_ARCHIVE = 'try_on-0.4.0.tar.gz'

/** The path of the section of an error code of the API or of a job. */
export const errorDocsPath = (code: string): string => `/docs/errors#${code}`
