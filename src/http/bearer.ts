// The Authorization header, read alike at every door that asks for a key or a token.

/** What follows `Bearer` (RFC 6750, 2.1); undefined for any other scheme, and for none. */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
