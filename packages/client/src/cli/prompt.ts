// Reads secrets from standard input: without echo on a terminal, line by line otherwise.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { InterruptedError } from './errors.ts'

/** What the user enters at each prompt, in order; empty strings for nothing. @throws InterruptedError */
export async function readSecrets(prompts: readonly string[]): Promise<string[]> {
  if (!process.stdin.isTTY) return readLines(prompts.length)
  const entered: string[] = []
  for (const prompt of prompts) entered.push(await ask(prompt))
  return entered
}

async function readLines(count: number): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: process.stdin })) {
    lines.push(line.trim())
    if (lines.length === count) break
  }
  return lines
}

function ask(prompt: string): Promise<string> {
  // readline echoes what is typed to its output.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  process.stderr.write(prompt)
  return new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      resolve(line.trim())
      lines.close()
    })
    lines.on('SIGINT', () => {
      reject(new InterruptedError())
      lines.close()
    })
    // Ctrl-D
    lines.on('close', () => resolve(''))
  }).finally(() => process.stderr.write('\n'))
}
