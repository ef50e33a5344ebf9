// Chromium for the browser tests and the pictures of the documentation.
import { existsSync } from 'node:fs'

const INSTALL_PATHS = [
  // Without the windows and the profile of a desktop, a page takes a quarter of the CPU time.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The path of Chromium: $CHROMIUM, or a usual install location. */
export const chromiumPath = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...INSTALL_PATHS].find((path) => path !== '' && existsSync(path))

/** How to start Chromium. @throws Error if there is none */
export function launchOptions() {
  const executablePath = chromiumPath()
  if (!executablePath) throw new Error('Chromium was not found')
  return { executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] }
}
