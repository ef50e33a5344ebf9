// The rules for new passwords.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { passwordProblem } from '../../src/users/password-policy.ts'
import { developmentMailbox } from '../../src/mail/send.ts'
import {
  latestMail,
  latestToken,
  newAddress,
  newBrowser,
  newOwner,
  PASSWORD,
  userIdOf,
} from '../support/browser.ts'

const ACCOUNT = '/console/account'

describe('a new password', () => {
  const problemOf = (password: string, names: string[] = []) =>
    passwordProblem({ env, password, email: 'ada.lovelace@fashion-house.example', names })

  it.each([
    ['1234567890', /sequence/],
    ['0987654321abc', /sequence/],
    ['aaaaaaaaaa', /repeats/],
    ['abcabcabcabc', /repeats/],
    ['HelloHello', /repeats/],
    ['password12', /common/],
    ['Password123', /common/],
    ['QwertyUiop', /common/],
    ['1q2w3e4r5t', /common/],
    ['ada.lovelace@fashion-house.example', /email address/],
    ['Lovelace2026', /name/],
    ['fashion-house-1', /name/],
    ['Atelier Nord 77', /name/],
    ['try-on 20262027', /name/],
  ])('is rejected: %s', async (password, message) => {
    expect(await problemOf(password, ['Atelier Nord'])).toMatch(message)
  })

  it.each([
    PASSWORD,
    'correct horse battery',
    'lovelace wrote programs',
    'T7#kq!vz0p',
    'ÄÖÜäöü€ßñç',
  ])('is accepted: %s', async (password) => expect(await problemOf(password)).toBeUndefined())

  it('is checked wherever it is set, with one message at the field', async () => {
    const weak = 'password12'
    const { browser, email } = await newOwner()
    const elsewhere = newBrowser()
    await elsewhere.post('/console/forgot', { email })
    const token = latestToken(email)
    const signedUp = newAddress()
    await newBrowser().post('/console/sign-up', {
      email: signedUp,
      password: PASSWORD,
      organisation: 'Acme',
    })
    const verification = latestToken(signedUp)
    const invited = newAddress()
    await browser.post('/console/settings/team/invitations', { email: invited, role: 'developer' })
    const invitation = latestMail(invited).path
    const sent = developmentMailbox().length
    const fresh = newAddress()
    const pages = [
      await newBrowser().post('/console/sign-up', {
        email: fresh,
        password: weak,
        organisation: 'Acme',
      }),
      await newBrowser().post('/console/verify', { token: verification, password: weak }),
      await newBrowser().post(invitation, { password: weak }),
      await elsewhere.post('/console/reset', { token, password: weak }),
      await browser.post(`${ACCOUNT}/password`, { current: PASSWORD, password: weak }),
    ]
    for (const page of pages) {
      expect(page.status).toBe(422)
      expect(page.html).toContain('This is a common password.')
      expect(page.html).not.toContain('At least 10 characters.')
    }
    expect(developmentMailbox()).toHaveLength(sent)
    expect(await userIdOf(fresh)).toBe('')
  })
})
