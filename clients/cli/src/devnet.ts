import * as fs from 'node:fs'
import path from 'node:path'

export type Devnet = { baseUrl: string; apiKey: string; file: string }

/**
 * The devnet that `npm start` runs for this checkout. Reads `dev.json` in `STEWARD_HOME`, otherwise in `.steward` of
 * this folder or of a parent folder. Undefined when no devnet runs.
 */
export function findDevnet(env: NodeJS.ProcessEnv, from = process.cwd()): Devnet | undefined {
  const folders = env.STEWARD_HOME ? [env.STEWARD_HOME] : foldersAbove(from)
  for (const folder of folders) {
    const file = path.join(folder, 'dev.json')
    const facts = readFacts(file)
    if (facts) return { ...facts, file }
  }
  return undefined
}

function foldersAbove(from: string): string[] {
  const above = path.dirname(from)
  const own = path.join(from, '.steward')
  return above === from ? [own] : [own, ...foldersAbove(above)]
}

function readFacts(file: string): Omit<Devnet, 'file'> | undefined {
  try {
    const facts = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>
    const { apiBaseUrl: baseUrl, apiKey } = facts
    if (typeof baseUrl !== 'string' || typeof apiKey !== 'string') return undefined
    return { baseUrl, apiKey }
  } catch {
    return undefined
  }
}
