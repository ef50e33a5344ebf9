// Turns on two-factor authentication and computes the codes of the authenticator app.
import { expect } from 'vitest'
import { codeAt } from '../../src/users/totp.ts'
import type { Browser } from './browser.ts'

export const TWO_FACTOR = '/console/account/two-factor'

export interface AuthenticatorApp {
  secret: string
  /** The code of this moment. @param offset in steps of 30 seconds */
  code(offset?: number): Promise<string>
}

export const appOf = (secret: string): AuthenticatorApp => ({
  secret,
  code: (offset = 0) => codeAt(secret, Math.floor(Date.now() / 30_000) + offset),
})

/** Starts the set-up, and returns the app that scanned the QR code. */
export async function setUpTwoFactor(browser: Browser): Promise<AuthenticatorApp> {
  const page = await browser.post(`${TWO_FACTOR}/set-up`)
  const [, shown = ''] = /data-copy-source[^>]*>([A-Z2-7 ]+)</.exec(page.html) ?? []
  const secret = shown.replaceAll(' ', '')
  expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  return appOf(secret)
}

/** Confirms with the current code. The next one, `code(1)`, can still be used. */
export async function turnOnTwoFactor(
  browser: Browser,
): Promise<{ app: AuthenticatorApp; codes: string[] }> {
  const app = await setUpTwoFactor(browser)
  const page = await browser.post(`${TWO_FACTOR}/enable`, { code: await app.code() })
  const codes = recoveryCodesIn(page.html)
  expect(codes).toHaveLength(10)
  return { app, codes }
}

export const recoveryCodesIn = (html: string): string[] => [
  ...new Set(html.match(/\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b/g) ?? []),
]
