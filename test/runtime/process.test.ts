import { expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Installs its graceful stop, gets this many listeners, and stops on request. */
const program = (listeners: number) => `
  import { createLog } from './runtime/log.ts'
  import { runProcess } from './runtime/process.ts'
  const { stopping } = runProcess(createLog('worker', 'fatal'))
  for (let i = 0; i < ${listeners}; i++) stopping.addEventListener('abort', () => i)
  process.kill(process.pid, 'SIGTERM')`

async function warningsWith(listeners: number): Promise<string> {
  const args = ['--import', 'tsx', '--input-type', 'module', '--eval', program(listeners)]
  const env = { ...process.env, NODE_OPTIONS: '' }
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  return stderr
}

test('runProcess allows the listeners of a full worker without a warning, and warns about a leak', async () => {
  expect(await warningsWith(5_040)).toBe('')
  expect(await warningsWith(6_000)).toContain('MaxListenersExceededWarning')
})
