// Which person tries on which garment.

export interface Pair {
  model: string
  garment: string
}

export const keyOf = ({ model, garment }: Pair) => `${model} ${garment}`

/**
 * Reads lines "model garment"; empty lines and lines that begin with `#` count for nothing. A name may
 * lack its extension.
 * @throws Error naming the line when it has not two names, or when a file does not exist
 */
export function readPairs(
  text: string,
  models: readonly string[],
  garments: readonly string[],
): Pair[] {
  const pairs: Pair[] = []
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue
    const [model, garment, ...rest] = line.trim().split(/\s+/)
    if (!model || !garment || rest.length > 0) {
      throw new Error(`line ${i + 1}: expected "model garment", got "${line.trim()}"`)
    }
    pairs.push({
      model: fileNamed(model, models, i + 1, 'person'),
      garment: fileNamed(garment, garments, i + 1, 'garment'),
    })
  }
  return pairs
}

function fileNamed(name: string, files: readonly string[], line: number, what: string): string {
  const file = files.find((file) => file === name || file.replace(/\.[^.]+$/, '') === name)
  if (!file) throw new Error(`line ${line}: no ${what} is called ${name}`)
  return file
}

/** Each garment once, the persons in turn with a stride that spreads neighbours. */
export function spreadPairs(models: readonly string[], garments: readonly string[]): Pair[] {
  if (models.length === 0) return []
  const stride = strideFor(models.length)
  return garments.map((garment, i) => ({ garment, model: models[(i * stride) % models.length]! }))
}

/** About 0.62 of the count and without a common divisor, so that each person comes once before any twice. */
function strideFor(count: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
  for (let stride = Math.max(1, Math.round(count * 0.618)); ; stride++) {
    if (divisor(stride, count) === 1) return stride
  }
}
