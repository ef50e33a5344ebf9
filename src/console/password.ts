// Asks for the password again before what cannot be undone easily.
import { authOf, MAX_PASSWORD_LENGTH, refusalOf } from '../accounts/auth.ts'
import { baseUrlOf } from '../api/base-url.ts'
import { z } from 'zod'
import type { ConsoleContext } from './context.ts'

export const currentPassword = z
  .string('Enter your password.')
  .min(1, 'Enter your password.')
  .max(MAX_PASSWORD_LENGTH, 'This is too long.')

/** Whether this is the signed-in person's password. Limit the attempts with `mayTryPassword`. */
export async function isPassword(c: ConsoleContext, password: string): Promise<boolean> {
  try {
    await authOf(c.env, baseUrlOf(c)).api.verifyPassword({
      body: { password },
      headers: c.req.raw.headers,
    })
    return true
  } catch (error) {
    if (refusalOf(error) === 'INVALID_PASSWORD') return false
    throw error
  }
}
