import { describe, expect, it } from 'vitest'
import { newBrowser } from '../support/browser.ts'

describe('the pricing page', () => {
  it('shows the prices in the chosen currency to everyone', async () => {
    const prices = {
      '': ['$49', '$299', '$0.08 per credit'],
      '?currency=INR': ['₹3,999', '₹24,999', '₹52,000'],
      '?currency=eur': ['€49', '€299', '€0.08 per credit'],
      '?currency=GBP': ['$49'],
    }
    for (const [query, shown] of Object.entries(prices)) {
      const { status, html } = await newBrowser().get(`/pricing${query}`)
      expect(status).toBe(200)
      for (const price of shown) expect(html).toContain(price)
      expect(html).toContain('href="/console/sign-up"')
    }
  })

  it('is linked from the sign-up and sign-in pages', async () => {
    for (const page of ['sign-up', 'sign-in']) {
      expect((await newBrowser().get(`/console/${page}`)).html).toContain('href="/pricing"')
    }
  })
})
