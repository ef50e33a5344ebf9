// Asks for the password again before what cannot be undone easily.
import { z } from 'zod'
import { authOf, MAX_PASSWORD_LENGTH, authErrorCodeOf } from '../accounts/auth.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './context.ts'
import { attemptOwnPassword } from './middleware/throttle.tsx'

export const currentPassword = z
  .string('Enter your password.')
  .min(1, 'Enter your password.')
  .max(MAX_PASSWORD_LENGTH, 'This is too long.')

/**
 * Checks the signed-in person's password.
 * @returns a page to answer with when too many wrong ones were tried
 */
export async function checkPassword(
  c: ConsoleContext,
  password: string,
): Promise<'right' | 'wrong' | Response> {
  const attempt = await attemptOwnPassword(c)
  if (!attempt.ok) return attempt.page
  const error = await authOf(c.env, baseUrlOf(c))
    .api.verifyPassword({ body: { password }, headers: c.req.raw.headers })
    .then(() => null)
    .catch((reason: unknown) => reason)
  if (authErrorCodeOf(error) === 'INVALID_PASSWORD') return 'wrong'
  await attempt.notAFailure()
  if (error !== null) throw error
  return 'right'
}
