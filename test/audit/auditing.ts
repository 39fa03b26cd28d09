import { expect } from 'vitest'
import { audit, reconcile } from '../../audit/audit.js'
import type { Difference } from '../../audit/difference.js'
import type { AuditTools } from '../../audit/tools.js'
import type { World } from '../lanes/world/fixture.js'

/** What an audit needs of a world of lanes: its database by its owner, its chains. */
export type Audited = Pick<World, 'db' | 'registry'> & { signer: Pick<World['signer'], 'chains'> }
export type AuditOptions = Partial<Pick<AuditTools, 'db' | 'workflows' | 'olderThanMs'>>

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

export const toolsOf = ({ db, registry, signer }: Audited, options: AuditOptions): AuditTools => ({
  ...{ db, registry, chains: signer.chains, log: silent, againMs: 50 },
  ...{ progress: () => undefined, ...options },
})

/** Everything in which a world's rows and its chains differ. */
export async function differencesOf(world: Audited, options: AuditOptions = {}) {
  const found: Difference[] = []
  for await (const difference of audit(toolsOf(world, options))) found.push(difference)
  return found
}

/** Mends what is certain. */
export async function reconcileWorld(world: Audited, options: AuditOptions = {}) {
  const mended: Difference[] = []
  const left = await reconcile(toolsOf(world, options), (one) => mended.push(one))
  return { mended, left }
}

/** Rows and chains say the same: to be asked at the end of a test that has been hard on them. */
export async function expectNoDifferences(world: Audited, options: AuditOptions = {}) {
  expect(await differencesOf(world, options)).toEqual([])
}

/** A difference as it is told, in one line. */
export const lineOf = ({ about, row, chain, mend }: Difference) =>
  [about, row, chain, mend].join(': ')
