// What users choose in their browser: live or test data, and light or dark pages.
import { MODES } from '../domain/job.ts'
import { choiceCookie } from './cookies.ts'
import type { ConsoleContext } from './console-context.ts'

export const THEMES = ['light', 'dark', 'system'] as const

/** The mode whose data the console shows. */
export const chosenMode = choiceCookie('try-on.mode', MODES)
export const chosenTheme = choiceCookie('try-on.theme', THEMES)

/** Without a choice, the pages follow the system. */
export const themeOf = (c: ConsoleContext) => chosenTheme.read(c) ?? 'system'
