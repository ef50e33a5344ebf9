// The contract with Stripe's API that the fake enforces.
import { Stripe } from 'stripe'
import { expect, it } from 'vitest'
import contract from '../../support/stripe-contract.json'
import {
  complete,
  parseForm,
  requestErrors,
  responseErrors,
} from '../../support/stripe-contract.ts'

it('is that of the installed package: run scripts/stripe-contract.ts after an update', () => {
  expect(contract.package).toBe(Stripe.PACKAGE_VERSION)
})

it.each([
  ['POST /v1/refunds', 'amount=100&payment_intent=pi_1', true],
  ['POST /v1/refunds', 'amount=100&payment=pi_1', false],
  ['POST /v1/refunds', 'amount=much', false],
  ['POST /v1/checkout/sessions', 'mode=payment&line_items[0][quantity]=1', true],
  ['POST /v1/checkout/sessions', 'mode=purchase', false],
  ['POST /v1/checkout/sessions', 'line_items[0][count]=1', false],
])('accepts only described parameters: %s %s', (operation, form, isValid) => {
  expect(requestErrors(operation, parseForm(operation, form)).length === 0).toBe(isValid)
})

it('accepts only complete objects in responses', () => {
  const refund = complete('Refunds.Refund', { id: 're_1', amount: 100 })
  expect(responseErrors('POST /v1/refunds', refund)).toEqual([])
  expect(responseErrors('POST /v1/refunds', { ...refund, amount: null })).not.toEqual([])
  expect(responseErrors('POST /v1/refunds', { ...refund, credits: 1 })).not.toEqual([])
})
