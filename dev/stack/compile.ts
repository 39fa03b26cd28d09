import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootFolder } from '../state/state.js'
import { bundle } from './bundle.mjs'

const entries = [
  ...['api', 'worker', 'relayer', 'signer'].map((role) => `${role}/main.ts`),
  'worker/bundleWorkflows.ts',
  'workflows/index.ts',
]

/** File name of the workflow bundle, below the folder of the compiled services. */
export const bundleFile = 'worker/workflows.cjs'

/**
 * Bundles each service into one file, such as `api/main.js`, when its sources have changed.
 *
 * @returns The folder of the files.
 */
export function compileServices(): Promise<string> {
  return bundle('services', { entries, finish: bundleWorkflows })
}

/** Bundles the workflows for Temporal when their sources or the installed packages have changed. */
async function bundleWorkflows(folder: string): Promise<void> {
  const made = path.join(folder, bundleFile)
  const stamp = `${made}.inputs`
  const inputs = digestFiles([
    path.join(folder, 'workflows/index.js'),
    path.join(rootFolder, 'package-lock.json'),
  ])
  const isThere = fs.existsSync(made) && fs.existsSync(stamp)
  if (isThere && fs.readFileSync(stamp, 'utf8') === inputs) return
  fs.rmSync(stamp, { force: true })
  await promisify(execFile)(process.execPath, [path.join(folder, 'worker/bundleWorkflows.js')])
  fs.writeFileSync(stamp, inputs)
}

function digestFiles(files: string[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update(fs.readFileSync(file)).update('\0')
  return hash.digest('hex')
}
