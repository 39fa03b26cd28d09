import { lstatSync } from 'node:fs'
import { ServiceError } from '../../domain/errors.js'
import type { Held } from '../../domain/intent/waiting.js'
import type { PartLog } from '../../runtime/log.js'

/** The kill switch of the signer. It needs no database. */
export type StopFile = {
  /** True while the file exists, or while the disk cannot report that it does not. Each change is logged once. */
  isThere(): boolean
  /** Called before each signature. @throws {ServiceError} UNAVAILABLE while the file exists. */
  assertAbsent(): void
}

/** @param path - Any file at this path stops all signatures of this process. */
export function createStopFile(path: string, log: PartLog): StopFile {
  let wasThere = false
  function isThere(): boolean {
    const isNow = exists(path)
    if (isNow !== wasThere)
      log.warn({ path }, isNow ? 'signing stopped by a file' : 'signing resumed')
    wasThere = isNow
    return isNow
  }
  return {
    isThere,
    assertAbsent() {
      if (!isThere()) return
      const details = { waitsFor: 'SIGNER' } satisfies Held
      throw new ServiceError('UNAVAILABLE', `${path} stops all signatures. Remove it.`, details)
    },
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}
