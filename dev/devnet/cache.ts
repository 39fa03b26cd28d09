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
 * What `make` returns, kept on disk and named by a hash of everything that it depends on, so that it
 * is made once per machine. Callers of one process that ask at the same time share one `make`.
 *
 * @param input - All that the result depends on.
 * @param make - Yields a value that survives JSON.
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

/** Writes a file so that a reader, or a second writer, sees the old or the new text, never a part. */
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
