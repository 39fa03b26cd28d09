import { loadWorkflowBundle } from '../../../worker/workflowBundle.js'

/** Bundles the workflows once for all test files: cold it takes seconds, from a file 0.1 s. */
export async function prepareWorkflowBundle(): Promise<void> {
  const bundle = await loadWorkflowBundle()
  if ('codePath' in bundle) process.env.TEST_WORKFLOW_BUNDLE = bundle.codePath
}

/** The bundle of `workflows/index.ts`, as `Worker.create({ workflowBundle })` takes it. */
export function workflowBundle(): { codePath: string } {
  const codePath = process.env.TEST_WORKFLOW_BUNDLE
  if (!codePath) throw new Error('No workflow bundle: run the tests by npm test.')
  return { codePath }
}
