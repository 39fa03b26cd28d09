import { join } from 'node:path'
import { bundle } from '../../../dev/stack/bundle.mjs'
import { bundleFile, compileServices } from '../../../dev/stack/compile.js'

/** Bundles the services, their workflows and the command line once for all test files. */
export async function prepareServices(): Promise<void> {
  process.env.TEST_SERVICES = await compileServices()
  process.env.TEST_CLI = await bundle('cli', {
    entries: ['clients/cli/src/main.ts'],
    keepsUrls: true,
  })
}

/** Path of a compiled file of the services, such as `worker/main.js`. */
export const compiledFile = (name: string): string => inFolder(process.env.TEST_SERVICES, name)

/** Path of the command line, which plain Node runs. */
export const compiledCli = (): string => inFolder(process.env.TEST_CLI, 'clients/cli/src/main.js')

/** The workflow bundle, as `Worker.create({ workflowBundle })` expects it. */
export const workflowBundle = () => ({ codePath: compiledFile(bundleFile) })

function inFolder(folder: string | undefined, name: string): string {
  if (!folder) throw new Error('The programs are not bundled: run the tests by npm test.')
  return join(folder, name)
}
