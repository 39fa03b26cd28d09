import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url))

/** Bundles the workflows into `folder`, once per run: cold it takes seconds, from a file 0.1 s. */
export async function writeWorkflowBundle(folder: string): Promise<void> {
  if (!existsSync(workflowsPath)) return
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
  const codePath = join(folder, 'workflows.cjs')
  await writeFile(codePath, code)
  process.env.TEST_WORKFLOW_BUNDLE = codePath
}

/** The bundle of `workflows/index.ts`, as `Worker.create({ workflowBundle })` takes it. */
export function workflowBundle(): { codePath: string } {
  const codePath = process.env.TEST_WORKFLOW_BUNDLE
  if (!codePath) throw new Error('No workflow bundle: run the tests by npm test.')
  return { codePath }
}
