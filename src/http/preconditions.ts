// The preconditions of a request for an image.

/** A valid If-None-Match (RFC 9110, 13.1.2). */
const ENTITY_TAGS = /^\s*(\*|(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*)\s*$/

/**
 * The preconditions for R2: only If-None-Match, since an image never changes and the other headers
 * would have no effect. R2 throws on a malformed tag, so malformed headers are dropped.
 * @param tags the header If-None-Match
 */
export function preconditions(tags: string | undefined): Headers {
  return new Headers(tags && ENTITY_TAGS.test(tags) ? { 'If-None-Match': tags } : {})
}
