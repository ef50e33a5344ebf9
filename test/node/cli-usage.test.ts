// The command line without a service: help, wrong arguments, the configuration file, completion.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname } from 'node:path'
import { after, describe, it } from 'node:test'
import { leafCommands, nameOf } from '../../packages/client/src/cli/command-tree.ts'
import { checkedBaseUrl } from '../../packages/client/src/cli/settings.ts'
import { createProgram } from '../../packages/client/src/cli/program.ts'
import { maskedKey, Output, table } from '../../packages/client/src/cli/output.ts'
import { CLI, CliHome } from './support/cli.ts'

const KEY = 'svc_test_sk_abcdefghijklmnopqrstuvwxyz0123'
const UNREACHABLE = 'http://127.0.0.1:9'

const { signal } = new AbortController()
/** The names of all commands, for example `jobs list`. */
const COMMANDS = leafCommands(
  createProgram({ output: new Output({ isJson: false }), env: {}, signal }),
).map(nameOf)

const home = new CliHome()
after(() => home.remove())

function storeConfig(config: object, mode: number) {
  mkdirSync(dirname(home.configFile), { recursive: true })
  writeFileSync(home.configFile, JSON.stringify(config))
  chmodSync(home.configFile, mode)
}

describe('help', () => {
  it('is printed without a command, and lists all commands, variables and exit codes', async () => {
    const { code, stdout } = await home.run([])
    assert.equal(code, 0)
    for (const name of COMMANDS) assert.match(stdout, new RegExp(`^ {2}${name}\\b`, 'm'))
    assert.match(stdout, /TRY_ON_WEBHOOK_SECRET/)
    assert.match(stdout, /130 {2}Interrupted/)
  })

  it('has a page for each command, with lines of at most 100 columns', async () => {
    for (const name of COMMANDS) {
      const words = name.split(' ')
      const { code, stdout } = await home.run(['help', ...words])
      assert.equal(code, 0, name)
      assert.match(stdout, new RegExp(`^ {2}try-on ${name}`, 'm'))
      for (const line of stdout.split('\n')) assert.ok(line.length <= 100, line)
    }
  })

  it('is the same with the option --help', async () => {
    const [page, option, group] = await Promise.all([
      home.run(['help', 'run']),
      home.run(['run', '--help']),
      home.run(['jobs', '-h']),
    ])
    assert.equal(option.stdout, page.stdout)
    assert.match(group.stdout, /jobs delete-output <job-id>/)
  })

  it('prints the version', async () => {
    const { code, stdout } = await home.run(['--version'])
    assert.equal(code, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/)
  })
})

describe('wrong arguments', { concurrency: 2 }, () => {
  const cases: [args: string[], message: RegExp][] = [
    [['acount'], /Unknown command "acount"\.\n {2}Did you mean: try-on account/],
    [['jobs', 'lst'], /Did you mean: try-on jobs list/],
    [['xyzzy'], /See all commands: try-on help/],
    [['help', 'rnu'], /Did you mean: try-on run/],
    [['run', 'a', 'b', '--outptu', 'x'], /Unknown option --outptu .*\n {2}Did you mean: --output/],
    [['account', '--limit', '3'], /Unknown option --limit of try-on account/],
    [['run', 'a'], /The argument <garment> is missing/],
    [['account', 'extra'], /Unexpected argument "extra"/],
    [['jobs', 'list', '--limit'], /--limit needs a value: --limit N/],
    [['jobs', 'list', '--limit', '--all'], /--limit needs a value/],
    [['jobs', 'list', '--limit', '0'], /--limit must be a whole number from 1/],
    [['jobs', 'list', '--all', '--limit', '5'], /either --limit or --all/],
    [['jobs', 'list', '--all=yes'], /--all does not take a value/],
    [['jobs', 'list', '--status', 'complete'], /must be one of .*\n {2}Did you mean: completed/],
    [['jobs', 'list', '--created-after', 'yesterday'], /--created-after must be a time such as/],
    [['trigger', 'job.completed'], /--webhook-url is required/],
    [['listen', '--secret', 'abc'], /must start with whsec_/],
    [['listen', '--secret', 'whsec_a'], /must start with whsec_, followed by base64/],
    [['listen', '--forward', 'localhost'], /--forward must be an http/],
    [['account', '--base-url', 'try-on.example'], /is not the address of a service/],
    [['account'], /address of the service is not set/],
  ]
  for (const [args, message] of cases) {
    it(`rejects try-on ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await home.run(args)
      assert.equal(code, 2, stderr)
      assert.equal(stdout, '')
      assert.match(stderr, message)
    })
  }

  it('rejects files that do not exist, before it sends a request', async () => {
    const env = { TRY_ON_API_KEY: KEY, TRY_ON_BASE_URL: UNREACHABLE }
    const missing = await home.run(['run', 'none.jpg', 'none.png'], env)
    assert.equal(missing.code, 2)
    assert.match(missing.stderr, /none\.\w+ does not exist/)
    const folder = await home.run(['run', 'a.jpg', 'b.png', '-o', 'no/out.jpg'], env)
    assert.match(folder.stderr, /The folder no does not exist/)
    const trailing = await home.run(['run', 'a.jpg', 'b.png', '-o', 'no/'], env)
    assert.match(trailing.stderr, /The folder no\/ does not exist/)
  })

  it('prints one JSON document on stderr with --json', async () => {
    const { code, stdout, stderr } = await home.run(['--json', 'acount'])
    assert.equal(code, 2)
    assert.equal(stdout, '')
    const document: unknown = JSON.parse(stderr)
    assert.deepEqual(document, {
      error: {
        code: 'usage_error',
        message: 'Unknown command "acount". Did you mean: try-on account',
      },
    })
  })
})

describe('errors', () => {
  it('ends with 1 when the service cannot be reached', async () => {
    const env = { TRY_ON_API_KEY: KEY, TRY_ON_BASE_URL: UNREACHABLE }
    const { code, stderr } = await home.run(['account', '--json'], env)
    assert.equal(code, 1)
    assert.match(stderr, /"code":"connection_error"/)
  })

  it('ends with 3 without a key', async () => {
    const { code, stderr } = await home.run(['account', '--base-url', UNREACHABLE])
    assert.equal(code, 3)
    assert.match(stderr, /Run try-on login, or set TRY_ON_API_KEY/)
    assert.match(stderr, new RegExp(`${UNREACHABLE}/console/settings/api-keys`))
  })

  it('ends with 3 for a key that cannot be sent', async () => {
    const { code, stderr } = await home.run(['account', '--key', 'ключ', '--base-url', UNREACHABLE])
    assert.equal(code, 3)
    assert.match(stderr, /contains characters that no key has/)
  })

  it('ends with 1 and a hint when the port of listen is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    assert.ok(typeof address === 'object' && address)
    const { code, stderr } = await home.run(['listen', '--port', String(address.port)])
    server.close()
    assert.equal(code, 1)
    assert.match(stderr, /EADDRINUSE\n {2}Choose another port/)
  })
})

describe('the configuration file', () => {
  it('is ignored with a warning when other users can read it', async () => {
    storeConfig({ base_url: UNREACHABLE, api_key: KEY }, 0o644)
    const { code, stderr } = await home.run(['account', '--base-url', UNREACHABLE])
    assert.equal(code, 3)
    assert.match(stderr, /Warning: .*config\.json is ignored: other users can read it\. Run: chmod/)
  })

  it('is ignored with a warning when it is not valid', async () => {
    storeConfig([], 0o600)
    writeFileSync(home.configFile, '{')
    const { code, stderr } = await home.run(['account', '--base-url', UNREACHABLE])
    assert.equal(code, 3)
    assert.match(stderr, /is ignored: not valid JSON/)
  })

  it('does not send its key to another service', async () => {
    storeConfig({ base_url: 'http://127.0.0.1:10', api_key: KEY }, 0o600)
    const { code, stderr } = await home.run(['account', '--base-url', UNREACHABLE])
    assert.equal(code, 3)
    assert.match(stderr, /The stored API key belongs to http:\/\/127\.0\.0\.1:10\./)
  })
})

describe('output', () => {
  it('shows the prefix and the last four characters of a key', () => {
    assert.equal(maskedKey(KEY), 'svc_test_sk_…0123')
    assert.equal(maskedKey('secret'), '…')
  })

  it('removes control characters from tables', () => {
    assert.deepEqual(table(['NAME', 'EMPTY'], [['a\u001B[31m\nb', '']]), ['NAME', 'a[31mb'])
  })

  it('warns about addresses without encryption, except of this machine', () => {
    const warnings: string[] = []
    class Recorder extends Output {
      override warn(text: string) {
        warnings.push(text)
      }
    }
    const output = new Recorder({ isJson: false })
    assert.equal(checkedBaseUrl('http://localhost:8787/v1/', output), 'http://localhost:8787')
    assert.deepEqual(warnings, [])
    checkedBaseUrl('http://try-on.example', output)
    assert.match(warnings[0] ?? '', /is not encrypted/)
  })
})

describe('a key that is an argument', () => {
  it('is hidden from lists of processes', async () => {
    const listening = home.start(['listen', '--port', '0', '--key', KEY])
    await listening.untilPrinted(/Listening/)
    const ps = ['-ww', '-o', 'args=', '-p', String(listening.child.pid)]
    const title = spawnSync('ps', ps, { encoding: 'utf8' }).stdout
    listening.child.kill('SIGINT')
    await listening.ended
    assert.match(title, /^try-on/)
    assert.ok(!title.includes(KEY))
  })
})

describe('completion', () => {
  /** What bash offers for the last word. */
  function complete(...words: string[]): string[] {
    const line = words.map((word) => `'${word}'`).join(' ')
    const { status, stdout, stderr } = spawnSync(
      'bash',
      [
        '-uc',
        `try-on() { '${process.execPath}' '${CLI}' "$@"; }
         source <(try-on completion bash)
         COMP_WORDS=(try-on ${line}); COMP_CWORD=${words.length}; _try_on
         printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    return stdout.split('\n').filter((word) => word !== '')
  }

  it('completes commands, options and values in bash', () => {
    assert.deepEqual(complete('lo'), ['login', 'logout'])
    assert.deepEqual(complete('jobs', 'd'), ['delete-output'])
    assert.deepEqual(complete('jobs', 'list', '--status', 'p'), ['pending', 'processing'])
    assert.deepEqual(complete('--base-url', 'x', 'trigger', 'job.c'), [
      'job.completed',
      'job.cancelled',
    ])
    assert.deepEqual(complete('jobs', 'list', '--created-a'), ['--created-after'])
    assert.deepEqual(complete('run', '--o'), ['--output'])
    assert.deepEqual(complete('completion', ''), ['bash', 'zsh', 'fish'])
    assert.deepEqual(complete('account', '--key', ''), [])
  })

  it('prints scripts that the installed shells accept', async (t) => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, stdout } = await home.run(['completion', shell])
      assert.equal(code, 0)
      const offered = (await home.run(['complete', shell, '--', ''])).stdout
      for (const name of COMMANDS) assert.ok(offered.includes(name.split(' ')[0] ?? name))
      const check = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })
      if (check.error) t.diagnostic(`${shell} is not installed: its script is not parsed`)
      else assert.deepEqual([check.status, check.stderr], [0, ''], shell)
    }
  })
})
