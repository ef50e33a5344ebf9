// Parses the Authorization header, for API keys and the operator token.

/** The token of `Bearer <token>` (RFC 6750, 2.1); undefined for other schemes or no header. */
export const bearerToken = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
