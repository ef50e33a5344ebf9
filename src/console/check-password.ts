// Checks the current password before sensitive actions.
import { authOf, authErrorCodeOf } from '../accounts/auth.ts'
import { baseUrlOf } from '../http/base-url.ts'
import type { ConsoleContext } from './context.ts'
import { attemptOwnPassword } from './middleware/throttle.tsx'

/**
 * Checks the password of the signed-in user.
 * @returns a response with status 429 after too many wrong passwords
 */
export async function checkPassword(
  c: ConsoleContext,
  password: string,
): Promise<'correct' | 'wrong' | Response> {
  const attempt = await attemptOwnPassword(c)
  if (!attempt.ok) return attempt.response
  const error = await authOf(c.env, baseUrlOf(c))
    .api.verifyPassword({ body: { password }, headers: c.req.raw.headers })
    .then(() => null)
    .catch((reason: unknown) => reason)
  if (authErrorCodeOf(error) === 'INVALID_PASSWORD') return 'wrong'
  await attempt.undo()
  if (error !== null) throw error
  return 'correct'
}
