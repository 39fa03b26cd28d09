import { expect, test } from 'vitest'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Supervises itself, is listened to by so many at once, and ends as it is told to. */
const program = (listeners: number) => `
  import { createLog } from './log.ts'
  import { runProcess } from './process.ts'
  const { stopping } = runProcess(createLog('worker', 'fatal'))
  for (let i = 0; i < ${listeners}; i++) stopping.addEventListener('abort', () => i)
  process.kill(process.pid, 'SIGTERM')`

async function warningsWith(listeners: number): Promise<string> {
  const args = ['--import', 'tsx', '--input-type', 'module', '--eval', program(listeners)]
  const env = { ...process.env, NODE_OPTIONS: '' }
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: root, env })
  return stderr
}

test('a worker full of activities may listen for its stop without a warning; a leak is warned of', async () => {
  expect(await warningsWith(5_040)).toBe('')
  expect(await warningsWith(6_000)).toContain('MaxListenersExceededWarning')
})
