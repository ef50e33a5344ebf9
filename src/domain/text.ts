// Rules for text that users enter.

/** Without C0 control characters and DEL. */
// eslint-disable-next-line no-control-regex
export const WITHOUT_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f]*$/
