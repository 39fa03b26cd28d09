import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootFolder } from './state.js'
import { Explained } from './terminal.js'

/** Folders whose files may end in the bundle: what the workflows import, types included. */
const sources = ['workflows', 'domain', 'activities', 'temporal']

/**
 * The workflows as one file for Temporal's sandbox, kept by the hash of its sources. Made in a process of its own,
 * beside everything else that starts: a worker that bundles by itself is ready two seconds later.
 *
 * @returns Path of the file.
 */
export async function prepareWorkflowBundle(): Promise<string> {
  const folder = path.join(rootFolder, 'node_modules/.cache/steward')
  const bundle = path.join(folder, `workflows-${hashSources()}.cjs`)
  if (fs.existsSync(bundle)) return bundle
  fs.mkdirSync(folder, { recursive: true })
  const script = path.join(rootFolder, 'dev/bundleWorkflows.ts')
  const draft = `${bundle}.${process.pid}`
  try {
    await promisify(execFile)(process.execPath, ['--import', 'tsx', script, draft], {
      cwd: rootFolder,
    })
    fs.renameSync(draft, bundle)
    return bundle
  } catch (cause) {
    const { stderr } = cause as { stderr?: string }
    throw new Explained(`The workflows cannot be bundled: ${stderr?.trim() ?? String(cause)}`, {
      cause,
    })
  } finally {
    fs.rmSync(draft, { force: true })
  }
}

function hashSources(): string {
  const hash = createHash('sha256')
  const files = sources
    .map((folder) => path.join(rootFolder, folder))
    .filter((folder) => fs.existsSync(folder))
    .flatMap((folder) => fs.readdirSync(folder).map((file) => path.join(folder, file)))
  for (const file of [...files, path.join(rootFolder, 'package-lock.json')].sort()) {
    if (fs.statSync(file).isFile()) hash.update(path.basename(file)).update(fs.readFileSync(file))
  }
  return hash.digest('hex').slice(0, 24)
}
