// Host names, for every rule that compares them.

/**
 * The host of a URL, without port and without trailing dots, which do not change a name's meaning.
 * The lookbehind prevents quadratic time on a name that consists of dots.
 */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/(?<!\.)\.+$/, '')
