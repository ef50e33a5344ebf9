// The Ignored-Fields header: names that a request contains and the service does not know, such as a
// misspelt optional field.

/** The description of the header in http/openapi.ts has this number. */
const MAX_NAMES = 10
/** Visible ASCII without the comma, which separates the names. Other names are not reported. */
const NAME = /^[\x21-\x2b\x2d-\x7e]{1,64}$/

/** The header of a request with the fields of `given`; undefined if `shape` has all of them. */
export function ignoredFields(given: object, shape: object): string | undefined {
  const names = Object.keys(given).filter((name) => !Object.hasOwn(shape, name) && NAME.test(name))
  return names.length === 0 ? undefined : names.slice(0, MAX_NAMES).join(', ')
}
