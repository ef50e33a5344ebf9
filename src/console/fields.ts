// What people may enter, for the forms that share it.
import { z } from 'zod'
import { WITHOUT_CONTROL_CHARACTERS } from '../domain/text.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../accounts/auth.ts'

export const email = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('Enter an email address, such as ada@shop.example.').max(254, 'This is too long.'))

export const PASSWORD_HINT = `At least ${MIN_PASSWORD_LENGTH} characters.`

export const password = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `The password must have at least ${MIN_PASSWORD_LENGTH} characters.`)
  .max(MAX_PASSWORD_LENGTH, `The password must have at most ${MAX_PASSWORD_LENGTH} characters.`)

/** Of organisations, workspaces and keys. */
export const name = z
  .string('Enter a name.')
  .trim()
  .min(1, 'Enter a name.')
  .max(100, 'At most 100 characters, please.')
  .regex(WITHOUT_CONTROL_CHARACTERS, 'Please leave out control characters.')
