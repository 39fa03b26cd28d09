import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../domain/errors.js'

/** Where `bundleWorkflows.ts` writes the workflows, as `Worker.create({ workflowBundle })` takes them. */
export const workflowBundle = { codePath: fileURLToPath(new URL('workflows.cjs', import.meta.url)) }

/**
 * The build id under which Temporal knows these workflows: 16 hex digits, by the text of their bundle.
 *
 * @throws {ServiceError} MISCONFIGURED when there is no bundle.
 */
export function readBuildId({ codePath } = workflowBundle): string {
  if (!existsSync(codePath)) {
    throw new ServiceError('MISCONFIGURED', 'The workflows are not bundled. Run npm run build.')
  }
  return createHash('sha256').update(readFileSync(codePath)).digest('hex').slice(0, 16)
}
