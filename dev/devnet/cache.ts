import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder, from the sources as well as from the compiled files below `dist`. */
export const rootFolder = findRoot()
const cacheFolder = path.join(rootFolder, 'node_modules/.cache/steward')

const pending = new Map<string, Promise<unknown>>()

/**
 * The result of `make`, cached on disk under a hash of its input, so that it is computed once per machine. Concurrent
 * callers of one process share one `make`.
 *
 * @param input - Everything that the result depends on.
 * @param make - Returns a value that survives JSON.
 */
export function readOrMake<T>(input: string, make: () => Promise<T> | T): Promise<T> {
  const name = createHash('sha256').update(input).digest('hex').slice(0, 32)
  const known = pending.get(name) as Promise<T> | undefined
  if (known) return known
  const value = readOrStore(path.join(cacheFolder, `${name}.json`), make)
  pending.set(name, value)
  const forget = () => pending.delete(name)
  value.then(forget, forget)
  return value
}

async function readOrStore<T>(file: string, make: () => Promise<T> | T): Promise<T> {
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as T
  const value = await make()
  await mkdir(cacheFolder, { recursive: true })
  await writeWhole(file, JSON.stringify(value))
  return value
}

/** Writes a file atomically: a reader or a second writer sees the old or the new text. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, text)
  await rename(draft, file)
}

function findRoot(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url))
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder)
  return folder
}
