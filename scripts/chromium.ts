// The path of Chromium for the browser tests: $CHROMIUM, or the usual install locations.
import { existsSync } from 'node:fs'

const INSTALL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

export const chromiumPath = (): string | undefined =>
  [process.env['CHROMIUM'] ?? '', ...INSTALL_PATHS].find((path) => path !== '' && existsSync(path))
