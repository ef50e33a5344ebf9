// The answer of an address to a method that it does not take, for every surface alike.
import { AppError } from '../domain/errors.ts'

/** For a known path with a method that it does not take. */
export const allow =
  (...methods: string[]) =>
  () => {
    throw new AppError('method_not_allowed', undefined, { Allow: methods.join(', ') })
  }
