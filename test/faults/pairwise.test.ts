import { expect, it } from 'vitest'
import { pairwise } from './pairwise.ts'

const product = [1, 2, 3, 4].flatMap((a) =>
  [1, 2, 3, 4].flatMap((b) => [1, 2, 3, 4].map((c) => ({ a, b, c }))),
)

it('covers each pair of values with a fraction of the combinations', () => {
  const sample = pairwise(product, (one) => one)
  for (const names of ['ab', 'ac', 'bc'] as const) {
    const [one, other] = [...names] as ['a', 'c']
    expect(new Set(sample.map((values) => `${values[one]} ${values[other]}`)).size).toBe(16)
  }
  expect(sample.length).toBeLessThan(24)
})

it('chooses the same sample each time, in the given order, without impossible combinations', () => {
  const possible = product.filter(({ a, b }) => a !== b)
  const sample = pairwise(possible, (one) => one)
  expect(pairwise(possible, (one) => one)).toEqual(sample)
  expect(possible.filter((one) => sample.includes(one))).toEqual(sample)
})

it('keeps a single case', () => {
  expect(pairwise([{ a: 1 }], (one) => one)).toEqual([{ a: 1 }])
})
