import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'

/** Writes the bundle of the workflows to the file named by the first argument. */
const [file = ''] = process.argv.slice(2)
const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url))
const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
writeFileSync(file, code)
