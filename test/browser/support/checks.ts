// What browser tests check on every page: overflows, contrast and accessibility.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { DESKTOP, PHONE, TABLET } from './console.ts'
import { shoot } from './shoot.ts'

const OVERFLOWS = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ['the page'] : []),
  ...[...document.querySelectorAll('td *')]
    .filter((part) => part.checkVisibility())
    .filter((part) => {
      const frame = part.closest('.table')?.getBoundingClientRect().right ?? innerWidth
      return part.getBoundingClientRect().right > frame
    })
    .map((part) => part.outerHTML.slice(0, 80)),
]`

const LOW_CONTRAST = `(() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number)
  const luminance = (colour) => {
    const [red, green, blue] = channels(colour).map((value) =>
      value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }
  const background = (part) => {
    const { backgroundColor } = getComputedStyle(part)
    const opaque = channels(backgroundColor)[3] !== 0
    return opaque || !part.parentElement ? backgroundColor : background(part.parentElement)
  }
  const findings = []
  for (const part of document.querySelectorAll('input, select, button, summary, a, pre[tabindex]')) {
    if (part.type === 'hidden' || !part.checkVisibility()) continue
    part.style.transition = 'none'
    const around = background(part.parentElement)
    const check = (what, colour) => {
      const ratio = contrast(colour, around)
      if (ratio < 3) findings.push(part.outerHTML.slice(0, 60) + ' ' + what + ' ' + ratio.toFixed(2))
    }
    const isField = part.matches('input:not([type=file]), select')
    if (isField) check('border', getComputedStyle(part).borderColor)
    part.focus()
    const { outlineStyle, outlineColor, borderColor } = getComputedStyle(part)
    if (isField) check('focused border', borderColor)
    if (!isField || part.type === 'radio') {
      if (outlineStyle === 'none') findings.push(part.outerHTML.slice(0, 60) + ' no outline')
      else check('outline', outlineColor)
    }
  }
  return findings
})()`

/** Finds elements of the open page that overflow the window or their table. */
export const findOverflows = (page: Page): Promise<string[]> => evaluateLoaded(page, OVERFLOWS)

/** The narrowest and the widest, and between them the widths at which the layout changes. */
const WINDOWS = [320, 390, 768, 1024, 1280].map((width) => ({ width, height: 900 }))

/** Finds elements of the open page that overflow one of the windows in which it is shown, one after the other. */
export async function findOverflowsInWindows(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const viewport of WINDOWS) {
    await page.setViewportSize(viewport)
    const overflows = await findOverflows(page)
    found.push(...overflows.map((part) => `at ${viewport.width} px overflows: ${part}`))
  }
  return found
}

/** Finds field borders and focus indicators with a contrast below 3:1 (WCAG 1.4.11), in the dark and the light theme. */
export async function findLowContrast(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const parts = await evaluateLoaded<string[]>(page, LOW_CONTRAST)
    found.push(...parts.map((part) => `${colorScheme}: ${part}`))
  }
  return found
}

/** After a click, elements are visible before the style sheets are loaded. */
async function evaluateLoaded<Value>(page: Page, expression: string): Promise<Value> {
  await page.waitForLoadState('load')
  return page.evaluate<Value>(expression)
}

/** Asserts that axe finds no violations on `path`, or on the open page. */
export async function assertAccessible(page: Page, path?: string): Promise<void> {
  if (path !== undefined) await page.goto(path)
  const violations = (await runAxe(page)).filter(
    ({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'landmark-unique',
  )
  assert.deepEqual(violations.map(describeViolation), [], `${page.url()}`)
}

/**
 * What axe finds on the open page, at every level of impact.
 * @param rules rules to run in addition to those that axe runs by default
 */
export const findAxeViolations = async (page: Page, rules: string[] = []): Promise<string[]> =>
  (await runAxe(page, rules)).map(describeViolation)

/** In which axe checks pages of the console. */
export const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [TABLET, PHONE, DESKTOP].map((viewport) => ({ viewport, colorScheme })),
)
let checked = 0

/**
 * Asserts that the open page fits each width, and that axe finds nothing in the next of `LOOKS`; in all of them with
 * `npm run test:all`. With SHOTS=1, takes screenshots.
 */
export async function assertSound(page: Page, name = page.url()): Promise<void> {
  await page.waitForLoadState()
  if (process.env['SHOTS']) await shoot(page, name.replaceAll('/', '-'))
  assert.deepEqual(await findOverflowsInWindows(page), [], name)
  for (const { viewport, colorScheme } of sampleOf(LOOKS, checked++)) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    const where = `${name} at ${viewport.width} px, ${colorScheme}`
    assert.deepEqual(await findAxeViolations(page), [], where)
  }
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** The looks in which page number `at` is checked: the next one for each page, all with `npm run test:all`. */
export const sampleOf = <Look>(looks: readonly Look[], at: number): readonly Look[] =>
  process.env['TEST_MATRIX'] === 'all' ? looks : looks.filter((_, n) => n === at % looks.length)

interface Violation {
  id: string
  impact: string
  nodes: { html: string }[]
}

const describeViolation = ({ id, nodes }: Violation): string =>
  `${id}: ${nodes.map(({ html }) => html).join(' | ')}`

/** Injects axe despite the CSP. */
async function runAxe(page: Page, rules: string[] = []): Promise<Violation[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) {
    const source = await readFile(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
    await page.evaluate(`${source}; 0`)
  }
  const options = {
    rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: true }])),
    // Without the nodes that pass, and without selectors, axe takes a third of the time.
    resultTypes: ['violations'],
    selectors: false,
  }
  return evaluateLoaded(
    page,
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )
}
