// The addresses of the console's pages.

/**
 * The path of a page of an organisation.
 * @param page such as `/jobs`; empty for the overview
 */
export const consolePath = (organisationId: string, page = ''): string =>
  `/console/${organisationId}${page}`
