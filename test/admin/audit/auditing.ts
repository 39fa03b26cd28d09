import { expect } from 'vitest'
import { audit, reconcile } from '../../../admin/audit/audit.js'
import type { Difference } from '../../../admin/audit/difference.js'
import type { AuditTools } from '../../../admin/audit/tools.js'
import type { World } from '../../relayer/world/fixture.js'

/** The parts of a test world that an audit needs: the owner's database connection and the chains. */
export type Audited = Pick<World, 'db' | 'registry'> & { signer: Pick<World['signer'], 'chains'> }
export type AuditOptions = Partial<Pick<AuditTools, 'db' | 'workflows' | 'olderThanMs'>>

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

export const toolsOf = ({ db, registry, signer }: Audited, options: AuditOptions): AuditTools => ({
  ...{ db, registry, chains: signer.chains, log: silent, againMs: 50 },
  ...{ progress: () => undefined, ...options },
})

/** All differences between the rows and the chains of a world. */
export async function differencesOf(world: Audited, options: AuditOptions = {}) {
  const found: Difference[] = []
  for await (const difference of audit(toolsOf(world, options))) found.push(difference)
  return found
}

/** Applies all certain repairs. */
export async function reconcileWorld(world: Audited, options: AuditOptions = {}) {
  const fixed: Difference[] = []
  const left = await reconcile(toolsOf(world, options), (one) => fixed.push(one))
  return { fixed, left }
}

/** Asserts that rows and chains agree. For the end of tests that disturb them. */
export async function expectNoDifferences(world: Audited, options: AuditOptions = {}) {
  expect(await differencesOf(world, options)).toEqual([])
}

/** A difference as one line. */
export const lineOf = ({ about, row, chain, remedy }: Difference) =>
  [about, row, chain, remedy].join(': ')
