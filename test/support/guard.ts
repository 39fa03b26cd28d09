import { spawn, type ChildProcess } from 'node:child_process'

/** Ends what it was told of when its input ends, also because this process was killed. */
const script = 'pids=; while read -r pid; do pids="$pids $pid"; done; kill -9 $pids 2>/dev/null'

let watcher: ChildProcess | undefined

/** Names a process that must not outlive this one, whatever ends it. */
export function guardProcess(pid: number): void {
  if (!watcher) {
    watcher = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    watcher.unref()
    // Vitest ends its workers by this signal: what is to be done at the exit is done then, too.
    process.once('SIGTERM', () => process.exit())
    // The pipe alone keeps no worker alive.
    ;(watcher.stdin as unknown as { unref?(): void }).unref?.()
  }
  watcher.stdin?.write(`${pid}\n`)
}
