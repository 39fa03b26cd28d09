import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Everything that workflows may load. */
const sources = ['workflows', 'domain']

/** 16 hex digits, by the text of all that workflows may load. */
export const workflowsHash = hashSources()

/**
 * By what Temporal knows the workers of these workflows: told with each task in a history, and a point to which an
 * operator may set back what a build has spoilt. One that has other workflows has another name.
 */
export const BUILD_ID = `steward-${workflowsHash}`

function hashSources(): string {
  const hash = createHash('sha256')
  for (const folder of sources) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    for (const name of names.sort()) {
      if (['.ts', '.js'].includes(extname(name))) {
        hash.update(`\0${folder}/${name}\0`).update(readFileSync(join(root, folder, name)))
      }
    }
  }
  return hash.digest('hex').slice(0, 16)
}
