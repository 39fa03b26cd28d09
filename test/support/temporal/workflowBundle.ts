import { join } from 'node:path'
import { bundleFile, compileServices } from '../../../dev/parts/compile.js'

/** Compiles the services and bundles the workflows once for all test files. */
export async function prepareServices(): Promise<void> {
  process.env.TEST_SERVICES = await compileServices()
}

/** Path of a compiled file of the services, such as `worker/main.js`. */
export function compiledFile(name: string): string {
  const folder = process.env.TEST_SERVICES
  if (!folder) throw new Error('The services are not compiled: run the tests by npm test.')
  return join(folder, name)
}

/** The bundle of the workflows, as `Worker.create({ workflowBundle })` takes it. */
export const workflowBundle = () => ({ codePath: compiledFile(bundleFile) })
