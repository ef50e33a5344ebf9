// The values of options, and what several commands say about them.
import { Option } from '@commander-js/extra-typings'
import { UsageError } from './errors.ts'

/** A parser of whole numbers. It throws a UsageError for other values and outside the range. */
export const integer =
  (option: string, min: number, max: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    throw new UsageError(`${option} must be a whole number from ${min} to ${max}.`)
  }

/** A parser of times. It throws a UsageError for anything but ISO 8601. */
export const instant =
  (option: string) =>
  (text: string): Date => {
    const date = new Date(text)
    // Date accepts much more than ISO 8601.
    if (/^\d{4}-\d{2}-\d{2}(T|$)/.test(text) && !Number.isNaN(date.getTime())) return date
    throw new UsageError(`${option} must be a time such as 2026-11-01 or 2026-11-01T12:00:00Z.`)
  }

/** The time limit of a wait for a job, at most a day. */
export const timeoutOption = () =>
  new Option('--timeout <SECONDS>', 'Time limit of the wait.')
    .argParser(integer('--timeout', 1, 86_400))
    .default(300)
