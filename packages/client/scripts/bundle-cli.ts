// Writes dist/cli/main.js: the command line as one file with the packages that it uses. Projects install
// @try-on/client without a registry, so it depends on no other package. Marks dist/cjs as CommonJS.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = join(import.meta.dirname, '..')
/** The licences require that copies contain their text. */
const licences = [
  join(packageFolder('commander'), 'LICENSE'),
  join(packageFolder('leven'), 'license'),
].map((file) => readFileSync(file, 'utf8').trim())

await build({
  entryPoints: [join(folder, 'src', 'cli', 'main.ts')],
  outfile: join(folder, 'dist', 'cli', 'main.js'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifyWhitespace: true,
  banner: { js: `/* Contains commander and leven.\n\n${licences.join('\n\n')}\n*/` },
})

writeFileSync(join(folder, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n')

function packageFolder(name: string): string {
  return dirname(fileURLToPath(import.meta.resolve(name)))
}
