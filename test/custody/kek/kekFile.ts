import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKek, type PrivateKek } from '../../../custody/kek/file.js'

/** Runs `action` with a temporary folder, which is deleted afterwards. */
export async function inFolder<T>(action: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'steward-kek-'))
  try {
    return await action(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A KEK whose file is deleted. */
export function makeKek(): Promise<PrivateKek> {
  return inFolder((folder) => createKek(join(folder, 'kek')))
}
