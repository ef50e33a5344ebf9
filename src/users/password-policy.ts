// Which new passwords are too easy to guess: common ones, repeated or sequential characters, and those
// that consist of the user's email address or of the name of the organisation or service.
import { log } from '../platform/log.ts'

/** The number of characters that do not repeat or continue the one before. */
const MIN_UNPREDICTABLE = 6
/** The number of letters that must remain without names. */
const MIN_OTHER_LETTERS = 4
/** Shorter parts of names occur in other words. */
const MIN_PART_LENGTH = 4
const SERVICE_NAMES = ['try-on', 'tryon']
/** scripts/assets.ts writes it: one password in lower case per line. */
const COMMON_PASSWORDS = 'https://assets.invalid/static/common-passwords.txt'

/** In this isolate. A promise would belong to one request. */
let common: Set<string> | undefined

/**
 * @param names of the user's organisations
 * @returns a message that says what to change; undefined for a good password
 */
export async function passwordProblem(choice: {
  env: Env
  password: string
  email: string
  names?: string[]
}): Promise<string | undefined> {
  const { env, password, email, names = [] } = choice
  const text = password.toLowerCase()
  if (text === email) return 'The password must not be your email address.'
  if (isRepetitive(text)) {
    return 'This password repeats characters or follows a sequence. Add unrelated words or characters.'
  }
  const personal = [email.slice(0, email.lastIndexOf('@')), ...email.split(/[@.+_-]/), ...names]
  if (consistsOf(text, [...personal, ...SERVICE_NAMES])) {
    return 'This password contains little more than your email address or a name. Add unrelated words or characters.'
  }
  if ((await commonPasswords(env)).has(text)) {
    return 'This is a common password. Use several unrelated words or a password manager.'
  }
  return undefined
}

/** Whether most characters follow from the one before, or a short part is repeated. */
function isRepetitive(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  const unpredictable = codes.filter((code, at) => Math.abs(code - (codes[at - 1] ?? -2)) > 1)
  return unpredictable.length < MIN_UNPREDICTABLE || /^(.{1,7}?)\1+.?$/su.test(text)
}

function consistsOf(text: string, names: string[]): boolean {
  const parts = names
    .flatMap((name) => [name, ...name.split(/\s+/), name.replaceAll(/\s+/g, '')])
    .map((name) => name.toLowerCase())
    .filter((name) => name.length >= MIN_PART_LENGTH)
    .sort((one, other) => other.length - one.length)
  let rest = text
  for (const part of parts) rest = rest.replaceAll(part, '')
  return rest !== text && rest.replaceAll(/[\s\d\W_]/g, '').length < MIN_OTHER_LETTERS
}

/** Empty if the list cannot be read: then the other rules apply. */
async function commonPasswords(env: Env): Promise<Set<string>> {
  if (common) return common
  try {
    const response = await env.ASSETS.fetch(COMMON_PASSWORDS)
    if (!response.ok) throw new Error(`HTTP status ${response.status}`)
    return (common = new Set((await response.text()).split('\n')))
  } catch (error) {
    log.error('list of common passwords not read', error)
    return new Set()
  }
}
