// The command line on a terminal: the prompts of login, progress and colours.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, it } from 'node:test'
import { CliHome } from './support/cli.ts'
import { sharedService, type NewOrganisation } from './support/service.ts'

const PAGE = 'https://shop.example/shirt.png'
const CONTROL_C = '\u0003'
const CLEAR_LINE = '\u001B[K'
const RED = '\u001B[31m'

const service = sharedService()
let organisation: NewOrganisation
let home: CliHome

before(async () => {
  organisation = await service.newOrganisation()
  home = new CliHome()
})

after(() => home?.remove())

const credentials = () => ({
  TRY_ON_API_KEY: organisation.api_keys.test,
  TRY_ON_BASE_URL: service.url,
})

it('login asks for the key and the secret without showing them', async () => {
  const key = organisation.api_keys.test
  const login = home.startOnTerminal(['login', '--base-url', service.url])
  await login.untilPrinted(/API key \(not shown\): /)
  login.child.stdin.write(`${key}\r`)
  await login.untilPrinted(/Webhook signing secret \(optional, not shown\): /)
  login.child.stdin.write(`${organisation.webhook_secret}\r`)
  const { code, stdout } = await login.ended
  assert.equal(code, 0, stdout)
  assert.match(stdout, /Logged in to Acme Fashion/)
  assert.ok(!stdout.includes(key) && !stdout.includes(organisation.webhook_secret))
  const stored = readFileSync(home.configFile, 'utf8')
  assert.ok(stored.includes(key) && stored.includes(organisation.webhook_secret))
  await home.run(['logout'])
})

it('login ends with 130 on Ctrl-C and stores nothing', async () => {
  const login = home.startOnTerminal(['login', '--base-url', service.url])
  await login.untilPrinted(/API key \(not shown\): /)
  login.child.stdin.write(CONTROL_C)
  assert.equal((await login.ended).code, 130)
  assert.ok(!existsSync(home.configFile))
})

it('run shows the job and its status until it ends', async () => {
  const run = home.startOnTerminal(['run', 'https://test.invalid/delay/2', PAGE], credentials())
  const { code, stdout } = await run.ended
  assert.equal(code, 0, stdout)
  assert.match(stdout, /submitting … \d+ s/)
  assert.match(stdout, /job_\w+ processing … \d+ s/)
  // The line of the progress is removed.
  const [result = ''] = stdout.split(`\r${CLEAR_LINE}`).slice(-1)
  assert.ok(!result.includes('…'))
  assert.match(result, /job_\w+ completed\S* in 2\.\d s\r\njob_\w+\.png\r\n$/)
})

it('run ends with 130 on Ctrl-C', async () => {
  const run = home.startOnTerminal(['run', 'https://test.invalid/delay/20', PAGE], credentials())
  await run.untilPrinted(/processing/)
  run.child.stdin.write(CONTROL_C)
  const { code, stdout } = await run.ended
  assert.equal(code, 130)
  assert.match(stdout, /Wait for it: try-on jobs wait job_/)
})

it('colours are shown on a terminal, unless NO_COLOR is set', async () => {
  const coloured = await home.startOnTerminal(['acount']).ended
  assert.ok(coloured.stdout.includes(`${RED}Error:`))
  const plain = await home.startOnTerminal(['acount'], { NO_COLOR: '1' }).ended
  assert.match(plain.stdout, /^Error: Unknown command/)
  const piped = await home.run(['acount'])
  assert.match(piped.stderr, /^Error: Unknown command/)
})
