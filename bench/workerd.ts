// What the workerd processes of this process take: the measured Workers, and the emulator of their bindings.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const BYTES_PER_KIB = 1_024
/** Of /proc: a hundredth of a second. */
const MS_PER_TICK = 10

function processes(): { pid: string; kibibytes: number }[] {
  const lines = execFileSync('ps', ['-axo', 'ppid=,pid=,rss=,comm='], { encoding: 'utf8' })
  return lines
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([parent, , , command]) => Number(parent) === process.pid && command?.includes('workerd'),
    )
    .map(([, pid = '', kibibytes]) => ({ pid, kibibytes: Number(kibibytes) }))
}

/** Resident memory, bytes. */
export const workerdBytes = (): number =>
  processes().reduce((sum, { kibibytes }) => sum + kibibytes * BYTES_PER_KIB, 0)

/** CPU time so far, ms; NaN on systems without /proc. Other load on the machine adds little to it. */
export const workerdCpuMs = (): number =>
  processes().reduce((sum, { pid }) => {
    const file = `/proc/${pid}/stat`
    // The fields after the name, which can contain spaces: the 12th and the 13th are user and system time.
    const fields = existsSync(file) ? readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') : []
    return sum + (Number(fields?.[11]) + Number(fields?.[12])) * MS_PER_TICK
  }, 0)
