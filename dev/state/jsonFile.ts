import * as fs from 'node:fs'

/** Reads a JSON file; undefined when it is missing or incomplete. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8')) as T
  } catch {
    return undefined
  }
}

/** Writes a JSON file, readable by its owner only. The write is atomic: a reader sees the old or the new file. */
export function writeJson(file: string, value: unknown): void {
  const draft = `${file}.${process.pid}`
  fs.writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  fs.renameSync(draft, file)
}
