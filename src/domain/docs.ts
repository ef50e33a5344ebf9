// Paths of the documentation site that the service links to.

/** The section of an error code of the API or of a job. */
export const errorDocsPath = (code: string): string => `/docs/errors#${code}`
