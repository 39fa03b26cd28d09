import * as fs from 'node:fs'
import { readJson, writeJson } from './jsonFile.js'
import { identify, isRunning, type ProcessId } from './processes.js'

/**
 * Takes a lock file for this process. The lock of a dead process is taken over.
 *
 * @returns The live process that has it; undefined when it is ours now.
 */
export function takeLock(file: string): ProcessId | undefined {
  const own = `${file}.${process.pid}`
  writeJson(own, identify(process.pid))
  try {
    while (!linkFile(own, file)) {
      const holder = readJson<ProcessId>(file)
      if (holder && isRunning(holder)) return holder
      fs.rmSync(file, { force: true })
    }
    return undefined
  } finally {
    fs.rmSync(own)
  }
}

/** Gives a lock back; does nothing when it is not ours. */
export function releaseLock(file: string): void {
  if (readJson<ProcessId>(file)?.pid === process.pid) fs.rmSync(file, { force: true })
}

/** Unlike a rename, a link is refused when the name is taken: of two that start at once, one has it. */
function linkFile(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
