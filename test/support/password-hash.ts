import { passwordHash } from '../../src/users/password-hash.ts'

/** What the service uses. */
export const realPasswordHash = { ...passwordHash }

const hashOf = (password: string) => `hash of ${password}`

/** Replaces scrypt, which takes 100 ms of CPU time: most tests sign up a user. */
export function replacePasswordHash(): void {
  Object.assign(passwordHash, {
    hash: async (password: string) => hashOf(password),
    verify: async ({ hash, password }: { hash: string; password: string }) =>
      hash === hashOf(password),
  })
}
