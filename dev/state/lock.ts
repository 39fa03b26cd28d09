import * as fs from 'node:fs'
import { readJson, writeJson } from './jsonFile.js'
import { identify, isRunning, type ProcessId } from './processes.js'

/**
 * Takes a lock file for this process. Takes over the lock of a dead process.
 *
 * @returns The live process that holds it; undefined when this process has it now.
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

/** Releases a lock. Does nothing when another process holds it. */
export function releaseLock(file: string): void {
  if (readJson<ProcessId>(file)?.pid === process.pid) fs.rmSync(file, { force: true })
}

/** Unlike a rename, a link fails when the name exists. Of two concurrent starts only one gets the lock. */
function linkFile(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
