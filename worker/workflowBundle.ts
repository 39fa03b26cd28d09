import { createHash } from 'node:crypto'
import {
  mkdirSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type Logger } from '@temporalio/worker'

const root = fileURLToPath(new URL('..', import.meta.url))
const cacheFolder = join(root, 'node_modules', '.cache', 'steward')
/** Everything that workflows may load, so everything that their bundle depends on. */
const sources = ['workflows', 'domain']

export type WorkflowBundle = { codePath: string } | { code: string }

/**
 * The bundled workflows. Bundling costs two seconds of a core, so that the result is kept beside the
 * installed packages, by the hash of its sources, where that folder can be written.
 */
export async function loadWorkflowBundle(logger: Logger): Promise<WorkflowBundle> {
  const codePath = join(cacheFolder, `workflows-${hashSources()}.cjs`)
  if (existsSync(codePath)) return { codePath }
  // The bundler finds files by itself: it is told the source or the built one, as this process is.
  const workflowsPath = join(root, 'workflows', `index${extname(fileURLToPath(import.meta.url))}`)
  const { code } = await bundleWorkflowCode({ workflowsPath, logger })
  try {
    mkdirSync(cacheFolder, { recursive: true })
    writeFileSync(`${codePath}.${process.pid}`, code)
    renameSync(`${codePath}.${process.pid}`, codePath)
  } catch {
    return { code }
  }
  return { codePath }
}

function hashSources(): string {
  const hash = createHash('sha256')
  const require = createRequire(import.meta.url)
  const sdk = require('@temporalio/workflow/package.json') as { version: string }
  hash.update(sdk.version)
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
