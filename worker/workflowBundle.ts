import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workflowsHash } from '../temporal/build.js'

const root = fileURLToPath(new URL('..', import.meta.url))
/** As this file is: TypeScript, or what was made of it. */
const extension = extname(fileURLToPath(import.meta.url))
const bundler = fileURLToPath(new URL(`bundling${extension}`, import.meta.url))
const bundleCache = join(root, 'node_modules', '.cache', 'steward')

export type WorkflowBundle = { codePath: string } | { code: string }

/**
 * The bundled workflows. Bundling costs two seconds of a core, so that the result is kept beside the installed packages,
 * by the hash of all that it depends on, where that folder can be written. A process of its own bundles: compiler and
 * bundler would stay in the memory of the worker for as long as it lives.
 */
export async function loadWorkflowBundle(folder = bundleCache): Promise<WorkflowBundle> {
  const codePath = join(folder, `workflows-${hashBundle()}.cjs`)
  if (existsSync(codePath)) return { codePath }
  const code = await bundleApart()
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${codePath}.${process.pid}`, code)
    renameSync(`${codePath}.${process.pid}`, codePath)
  } catch {
    return { code }
  }
  return { codePath }
}

/** @throws when the workflows cannot be bundled; why, the bundler has said on stderr. */
function bundleApart(): Promise<string> {
  // It needs nothing of what this process was told.
  const execArgv = extension === '.ts' ? ['--import', 'tsx'] : []
  const child = fork(bundler, { env: {}, execArgv, cwd: root })
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('error', reject)
    child.once('exit', (status) => {
      reject(new Error(`The workflows were not bundled: their bundler ended with ${status}.`))
    })
  })
}

function hashBundle(): string {
  const require = createRequire(import.meta.url)
  const sdk = require('@temporalio/workflow/package.json') as { version: string }
  const hash = createHash('sha256').update(sdk.version).update(readFileSync(bundler))
  return hash.update(workflowsHash).digest('hex').slice(0, 16)
}
