import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const RUN_MS = 60_000
const command = ['--import', 'tsx', 'dev/tools/fuzz/main.ts']

describe('npm run fuzz', () => {
  test.each([
    [{ STEWARD_URL: 'http://127.0.0.1:9' }, 'STEWARD_KEY is missing'],
    [{ STEWARD_KEY: 'svc_sk_test' }, 'STEWARD_URL is missing'],
  ])(
    'error: only one of address and key is set (%o)',
    async (given, message) => {
      const home = path.join(tmpdir(), 'steward-fuzz-none')
      const unset = { STEWARD_URL: '', STEWARD_KEY: '' }
      const env = { ...process.env, ...unset, STEWARD_HOME: home, ...given }
      await expect(promisify(execFile)(process.execPath, command, { env })).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining(message) as string,
      })
    },
    RUN_MS,
  )
})
