#!/usr/bin/env node
// Runs the command line: its sources in the repository, which are not in the package, or else the built file.
import { existsSync } from 'node:fs'

const sources = new URL('../src/cli/main.ts', import.meta.url)
await import(existsSync(sources) ? sources.href : '../dist/cli/main.js')
