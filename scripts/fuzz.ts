// `npm run fuzz`: decodes malformed images. Each must produce a picture or an image error within
// limits of CPU time and memory.
//   --files N     files per format (default 5000)
//   --seed S      repeats an earlier run
//   --format F    only jpeg, png or webp
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '@try-on/compositor/samples'
import { load, UnusableImage } from '@try-on/compositor'
import { IMAGE_FORMATS, type ImageFormat } from '../src/domain/image.ts'
import { nodeCodecs } from '@try-on/compositor/node'
import { createCorpus } from './fuzz/corpus.ts'
import { mutate } from './fuzz/mutations.ts'

const MAX_CPU_MS = 5_000
const MAX_MEMORY_BYTES = 150_000_000
const MAX_SIDE = 256
const EXPECTED = /^model_image_(corrupt|too_large|unsupported_format)$/

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    format: { type: 'string' },
  },
})
const [files, seed] = [Number(values.files), Number(values.seed)]
const formats = IMAGE_FORMATS.filter((format) => !values.format || format === values.format)
if (!Number.isInteger(files) || !Number.isInteger(seed) || files < 1 || formats.length === 0) {
  console.error('Usage: npm run fuzz -- [--files N] [--seed S] [--format jpeg|png|webp]')
  process.exit(2)
}

/** The WebAssembly memories of the decoders of the current image. */
let memories: WebAssembly.Memory[] = []
WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(real, [module, imports]: [WebAssembly.Module, WebAssembly.Imports]) {
    const instance = new real(module, imports)
    for (const value of Object.values(instance.exports)) {
      if (value instanceof WebAssembly.Memory) memories.push(value)
    }
    return instance
  },
})

interface Result {
  outcome: string
  cpuMs: number
  memoryBytes: number
  problem: string | null
}

async function run(bytes: Uint8Array<ArrayBuffer>, format: ImageFormat): Promise<Result> {
  memories = []
  const start = process.cpuUsage()
  let outcome: string
  let problem: string | null = null
  try {
    const picture = await load(nodeCodecs, { bytes, format }, 'model', MAX_SIDE)
    const { width, height, data } = picture
    outcome = 'decoded'
    if (Math.max(width, height) > MAX_SIDE || data.length !== width * height * 4) {
      problem = `a picture of ${width} × ${height} in ${data.length} bytes`
    }
  } catch (error) {
    outcome =
      error instanceof UnusableImage ? `${error.role}_image_${error.problem}` : String(error)
    if (!EXPECTED.test(outcome)) problem = outcome
  }
  const used = process.cpuUsage(start)
  const cpuMs = (used.user + used.system) / 1_000
  const memoryBytes = Math.max(0, ...memories.map(({ buffer }) => buffer.byteLength))
  if (cpuMs > MAX_CPU_MS) problem = `${cpuMs} ms of CPU time`
  if (memoryBytes > MAX_MEMORY_BYTES) problem = `${memoryBytes} bytes of memory`
  return { outcome, cpuMs, memoryBytes, problem }
}

console.log(`Fuzzing with --seed ${seed} --files ${files}`)
const corpus = await createCorpus(createRandom(seed))
let folder: string | undefined
let problems = 0

for (const format of formats) {
  for (const [i, file] of corpus[format].entries()) {
    const { outcome } = await run(Uint8Array.from(file), format)
    if (outcome !== 'decoded')
      throw new Error(`${format} file ${i} of the corpus is not valid: ${outcome}`)
  }
  const outcomes = new Map<string, number>()
  let [slowestMs, largestBytes] = [0, 0]
  for (let i = 0; i < files; i++) {
    const random = createRandom(seed + i * IMAGE_FORMATS.length + IMAGE_FORMATS.indexOf(format))
    const original = corpus[format][i % corpus[format].length]!
    const bytes = Uint8Array.from(mutate(original, format, corpus[format], random))
    const { outcome, cpuMs, memoryBytes, problem } = await run(bytes, format)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    slowestMs = Math.max(slowestMs, cpuMs)
    largestBytes = Math.max(largestBytes, memoryBytes)
    if (!problem) continue
    problems += 1
    folder ??= mkdtempSync(join(tmpdir(), 'fuzz-'))
    const path = join(folder, `${i}.${format}`)
    writeFileSync(path, bytes)
    console.log(`${path}: ${problem}`)
  }
  const summary = [...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ')
  const maximum = `at most ${slowestMs.toFixed(0)} ms and ${(largestBytes / 1e6).toFixed(0)} MB each`
  console.log(`${format}: ${files} files, ${maximum}: ${summary}`)
}

console.log(problems === 0 ? 'No problems found.' : `${problems} problems found.`)
process.exitCode = problems === 0 ? 0 : 1
