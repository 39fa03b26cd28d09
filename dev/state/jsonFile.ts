import * as fs from 'node:fs'

/** Reads a JSON file; undefined when it is missing or not whole. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as T
  } catch {
    return undefined
  }
}

/** Writes a JSON file for the owner's eyes, at once: a reader sees the old or the new one. */
export function writeJson(file: string, value: unknown): void {
  const draft = `${file}.${process.pid}`
  fs.writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  fs.renameSync(draft, file)
}
