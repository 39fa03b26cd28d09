import { renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker'
import { workflowBundle } from './workflowBundle.js'

/** Bundles the compiled workflows into one file. `npm run build` and `npm start` run this program. */
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../workflows/index.js', import.meta.url)),
  logger: new DefaultLogger('WARN'),
})
// Rename, because two instances of `npm start` may share the file.
const draft = `${workflowBundle.codePath}.${process.pid}`
writeFileSync(draft, code)
renameSync(draft, workflowBundle.codePath)
