import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../domain/errors.js'

/** Path of the bundle that `bundleWorkflows.ts` writes, as the option `workflowBundle` of `Worker.create`. */
export const workflowBundle = { codePath: fileURLToPath(new URL('workflows.cjs', import.meta.url)) }

/**
 * The build id of these workflows: the first 16 hex digits of the bundle's SHA-256 hash.
 *
 * @throws {ServiceError} MISCONFIGURED when the bundle is missing.
 */
export function readBuildId({ codePath } = workflowBundle): string {
  if (!existsSync(codePath)) {
    throw new ServiceError('MISCONFIGURED', 'The workflows are not bundled. Run npm run build.')
  }
  return createHash('sha256').update(readFileSync(codePath)).digest('hex').slice(0, 16)
}
