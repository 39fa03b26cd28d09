import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type RunFolder = {
  path: string
  /** Names the process that must not outlive the run. */
  guard(pid: number): void
  /** Must be called once that process has ended. */
  release(): void
  remove(): Promise<void>
}

/** The last received line counts: the id of the process to end, or an empty line. */
const watcherScript = `
  guarded=
  while read -r line; do guarded=$line; done
  if [ -n "$guarded" ]; then kill -QUIT "$guarded"; sleep 1; fi
  rm -rf "$0"`

/**
 * A folder for one test run. When this process dies without removing it, the pipe to a watcher closes. The watcher
 * then ends the guarded process and removes the folder.
 */
export async function createRunFolder(): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), 'steward-test-'))
  // Root runs the database server under another account, which must enter the folder.
  await chmod(path, 0o711)
  const watcher = spawn('sh', ['-c', watcherScript, path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  return {
    path,
    guard(pid) {
      watcher.stdin.write(`${pid}\n`)
    },
    release() {
      watcher.stdin.write('\n')
    },
    async remove() {
      watcher.stdin.end()
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
