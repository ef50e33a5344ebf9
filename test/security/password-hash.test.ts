import { expect, it } from 'vitest'
import { realPasswordHash } from '../support/password-hash.ts'

const PASSWORD = 'a long enough password'

it('verifies the password of a hash only, also for concurrent sign-ins', async () => {
  const { hash, verify } = realPasswordHash
  const hashes = await Promise.all([hash(PASSWORD), hash(PASSWORD)])
  expect(new Set(hashes).size).toBe(2)
  for (const text of hashes) {
    expect(text).not.toContain(PASSWORD)
    const checks = [PASSWORD, `${PASSWORD} `, ''].map((password) =>
      verify({ hash: text, password }),
    )
    expect(await Promise.all(checks)).toEqual([true, false, false])
  }
})
