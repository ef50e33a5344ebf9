// The Python client: its unit tests, and its tests against the service.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from '../../scripts/wrangler.ts'
import { hasProgram } from './support/programs.ts'
import { sharedService } from './support/service.ts'

const PACKAGE = join(ROOT, 'packages', 'client-python')

const run = promisify(execFile)

if (hasProgram('python3')) {
  it('the Python client passes its tests', { timeout: 120_000 }, async () => {
    const service = sharedService()
    const organisation = await service.newOrganisation({ rate_limit_per_minute: 600 })
    const keys = `/organisations/${organisation.org_id}/api-keys`
    const revoked = await service.operator<{ id: string; key: string }>('POST', keys, {
      mode: 'test',
    })
    await service.operator('DELETE', `${keys}/${revoked.id}`)

    // In a child process without blocking: wrangler dev writes to pipes that this process reads.
    const args = ['-m', 'unittest', 'discover', '-s', 'tests', '-t', '.']
    const { stderr } = await run('python3', args, {
      cwd: PACKAGE,
      env: {
        ...process.env,
        PYTHONPATH: 'src',
        PYTHONDONTWRITEBYTECODE: '1',
        TRY_ON_TEST_URL: service.url,
        TRY_ON_TEST_KEY: organisation.api_keys.test,
        TRY_ON_TEST_REVOKED_KEY: revoked.key,
        TRY_ON_TEST_IMAGE: join(ROOT, 'samples', 'model.jpg'),
      },
    })
    const [, count = '0'] = /^Ran (\d+) tests/m.exec(stderr) ?? []
    assert.ok(Number(count) > 30, stderr)
    // The line has a count of skipped tests if there are any.
    assert.match(stderr, /^OK$/m)
  })
}
