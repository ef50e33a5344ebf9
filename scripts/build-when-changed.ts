// Skips builds whose inputs have not changed, since `wrangler dev` builds at every start and change.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs a build, unless its inputs are those of the last one and its outputs exist.
 * @param stamp a file that holds the hash of the inputs
 * @param inputs patterns of files below `root`
 * @param outputs files that the build writes; it runs when one of them is missing
 */
export async function buildWhenChanged(
  {
    root,
    stamp,
    inputs,
    outputs,
  }: { root: string; stamp: string; inputs: string[]; outputs: string[] },
  build: () => void | Promise<void>,
): Promise<void> {
  const hash = createHash('sha256')
  for (const name of globSync(inputs, { cwd: root }).sort()) {
    const file = join(root, name)
    if (statSync(file).isFile()) hash.update(`${name}\n`).update(readFileSync(file))
  }
  const digest = hash.digest('hex')
  const isBuilt = [stamp, ...outputs].every((file) => existsSync(file))
  if (isBuilt && readFileSync(stamp, 'utf8') === digest) return
  await build()
  writeFileSync(stamp, digest)
}
