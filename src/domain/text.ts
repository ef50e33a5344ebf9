// Rules for text that users enter, and names on the wire.

/** Without C0 control characters and DEL. */
// eslint-disable-next-line no-control-regex
export const WITHOUT_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f]*$/

/** The name of a field on the wire: `createdAt` becomes `created_at`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
