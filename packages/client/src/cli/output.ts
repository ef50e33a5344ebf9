// What the command line prints: results on stdout, progress and errors on stderr.
import type { Failure } from './errors.ts'

type Colour = 'red' | 'green' | 'yellow' | 'dim'

const SGR: Record<Colour, number> = { red: 31, green: 32, yellow: 33, dim: 2 }

/** Removes control characters, so that received text cannot send commands to the terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}/gu, '')

/** The prefix and the last four characters, which the console shows as well. */
export function maskedKey(key: string): string {
  const [prefix = ''] = /^[a-z]+_(?:live|test)_sk_/.exec(key) ?? []
  return `${prefix}…${key.length > prefix.length + 12 ? key.slice(-4) : ''}`
}

/** Printable text in which API keys are masked: a message may repeat an argument. */
const safe = (text: string): string =>
  printable(text).replaceAll(/[a-z]+_(?:live|test)_sk_[^\s"]{4,}/g, maskedKey)

export class Output {
  readonly isJson: boolean

  constructor({ isJson }: { isJson: boolean }) {
    this.isJson = isJson
  }

  /** Prints the document with --json, the lines otherwise. */
  result(document: object, lines: readonly string[]): void {
    process.stdout.write(
      this.isJson ? `${JSON.stringify(document, null, 2)}\n` : lines.map((l) => `${l}\n`).join(''),
    )
  }

  /** Prints one entry of a stream: a JSON document on one line with --json. */
  entry(document: object, line: string): void {
    process.stdout.write(`${this.isJson ? JSON.stringify(document) : line}\n`)
  }

  /** Prints text that is the same with --json, for example a script. */
  text(text: string): void {
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Prints a remark that is not part of the result. */
  note(text: string): void {
    if (!this.isJson) process.stderr.write(`${text}\n`)
  }

  /** Not with --json, so that stderr contains either nothing or one error. */
  warn(text: string): void {
    this.note(`${paint('Warning:', 'yellow', process.stderr)} ${text}`)
  }

  failure({ code, message, hints }: Failure): void {
    if (this.isJson) {
      const text = safe([message, ...hints].join(' '))
      process.stderr.write(`${JSON.stringify({ error: { code, message: text } })}\n`)
      return
    }
    const title = paint('Error:', 'red', process.stderr)
    const lines = [`${title} ${safe(message)}`, ...hints.map((hint) => `  ${safe(hint)}`)]
    process.stderr.write(`${lines.join('\n')}\n`)
  }

  /** Colours text of stdout if it is a terminal. */
  colour(text: string, colour: Colour): string {
    return paint(text, colour, process.stdout)
  }

  /**
   * Shows on a terminal what `work` is doing, with the elapsed seconds, until it ends. Prints nothing
   * unless stderr is a terminal.
   */
  async withProgress<T>(work: (show: (text: string) => void) => Promise<T>): Promise<T> {
    const stream = process.stderr
    if (!stream.isTTY || this.isJson) return work(() => {})
    const startedAt = Date.now()
    let current = ''
    const draw = () => {
      const seconds = Math.floor((Date.now() - startedAt) / 1000)
      stream.write(`\r\u001B[K${current} … ${seconds} s`)
    }
    let timer: NodeJS.Timeout | undefined
    try {
      return await work((text) => {
        current = printable(text)
        timer ??= setInterval(draw, 1000)
        draw()
      })
    } finally {
      if (timer) stream.write('\r\u001B[K')
      clearInterval(timer)
    }
  }
}

function paint(text: string, colour: Colour, stream: NodeJS.WriteStream): string {
  const isPlain = !stream.isTTY || process.env.NO_COLOR || process.env.TERM === 'dumb'
  return isPlain ? text : `\u001B[${SGR[colour]}m${text}\u001B[0m`
}

/** Aligns rows below their titles. Columns without any value are left out. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const shown = titles.map((_, index) => index).filter((i) => rows.some((row) => row[i]))
  const lines = [titles, ...rows].map((row) => shown.map((index) => printable(row[index] ?? '')))
  const widths = shown.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)))
  return lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Aligns the values of one resource. */
export function fields(
  entries: readonly (readonly [string, string | null | undefined])[],
): string[] {
  const rows = entries.filter((entry): entry is readonly [string, string] => Boolean(entry[1]))
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`)
}
