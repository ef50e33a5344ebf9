// Screenshots for visual review. They are written to test/browser/shots, which git ignores.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { DESKTOP, PHONE, TABLET } from './console.ts'

const folder = join(import.meta.dirname, '..', 'shots')
mkdirSync(folder, { recursive: true })

/** The only screenshot to take, if one is named on the command line. */
const only = process.argv[2]

/** Takes screenshots of the open page at three widths, light and dark, and reports overflows. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (only && only !== name) return
  await page.waitForLoadState('networkidle').catch(() => {})
  for (const [size, viewport] of [
    ['wide', DESKTOP],
    ['tablet', TABLET],
    ['phone', PHONE],
  ] as const) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({
        path: join(folder, `${name}-${size}-${colorScheme}.png`),
        fullPage: true,
        animations: 'disabled',
      })
    }
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    if (Number(overflow) > 0)
      process.stdout.write(`${name} at ${size} is ${overflow} px too wide\n`)
  }
  await page.setViewportSize(DESKTOP)
  await page.emulateMedia({ colorScheme: 'light' })
}
