// The arguments of `npm run evaluate`.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readPairs, spreadPairs, type Pair } from './pairs.ts'
import { readRatings, type Ratings } from './ratings.ts'

const USAGE = `Usage: npm run evaluate -- --models DIR --garments DIR [--pairs FILE] [--out DIR]
                           [--ratings FILE] [--compare FILE]
  --models    photographs of people (JPEG, PNG, WebP)
  --garments  product photographs
  --pairs     lines "model garment"; without it each garment is tried on once
  --out       folder for sheets, results and results.json (evaluation/out)
  --ratings   JSON: "model garment" → { rating: good | acceptable | broken, engine, note }
  --compare   an older ratings file; prints what changed`

export interface Options {
  models: string
  garments: string
  pairs: Pair[]
  out: string
  ratings: Ratings | null
  older: Ratings | null
}

/** An argument that cannot be used; the message is for the terminal. */
export class BadArgument extends Error {
  override readonly name = 'BadArgument'
}

/** @throws BadArgument */
export function readArguments(args: readonly string[]): Options {
  const values = parsed(args)
  const models = folder('--models', values.models)
  const garments = folder('--garments', values.garments)
  const modelFiles = picturesIn('--models', models)
  const garmentFiles = picturesIn('--garments', garments)
  return {
    models,
    garments,
    pairs:
      fileAt('--pairs', values.pairs, (text) => readPairs(text, modelFiles, garmentFiles)) ??
      spreadPairs(modelFiles, garmentFiles),
    out: values.out ?? 'evaluation/out',
    ratings: fileAt('--ratings', values.ratings, readRatings),
    older: fileAt('--compare', values.compare, readRatings),
  }
}

function parsed(args: readonly string[]) {
  const string = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...args],
      options: {
        models: string,
        garments: string,
        pairs: string,
        out: string,
        ratings: string,
        compare: string,
      },
    }).values
  } catch (cause) {
    throw new BadArgument(`${messageOf(cause)}\n${USAGE}`, { cause })
  }
}

function folder(option: string, path: string | undefined): string {
  if (!path) throw new BadArgument(`${option} is missing.\n${USAGE}`)
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new BadArgument(`${option}: ${path} is not a folder.`)
  }
  return path
}

/** The names of the pictures in a folder, sorted. @throws BadArgument when there are none */
export function picturesIn(option: string, path: string): string[] {
  const files = readdirSync(path).filter((name) => /\.(jpe?g|png|webp)$/i.test(name))
  if (files.length === 0) throw new BadArgument(`${option}: ${path} has no JPEG, PNG or WebP file.`)
  return files.sort()
}

function fileAt<T>(option: string, path: string | undefined, read: (text: string) => T): T | null {
  if (path === undefined) return null
  try {
    return read(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new BadArgument(`${option}: ${path}: ${messageOf(cause)}`, { cause })
  }
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))
