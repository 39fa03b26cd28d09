import { createKek, readKek, type PrivateKek } from '../../custody/kek/file.js'
import { openAccount } from '../../custody/open.js'
import { createSealedAccount } from '../../custody/account.js'
import { insertSender, readSenders, readAllSenders } from '../../operations/signing/signing.js'
import { findTreasury, hasKek, insertTreasury, publishKek, type Treasury } from '../../db/keys.js'
import { treasuryContext } from '../signing.js'
import { senderKeyContext } from '../store.js'
import type { Db } from '../../db/client/connect.js'
import { ServiceError } from '../../domain/errors.js'

/**
 * The signer's KEK. The first start, with no file and no sealed key, creates it. Later a missing or different file is
 * rejected, because sealed keys could not be opened with it.
 */
export async function loadKek(db: Db, file: string): Promise<PrivateKek> {
  const known = await readKek(file)
  if (!known && (await hasKek(db))) {
    throw new ServiceError(
      'MISCONFIGURED',
      'KEK_FILE is missing, but keys are sealed with it. Restore it from the backup.',
    )
  }
  const kek = known ?? (await createKek(file))
  await publishKek(db, kek)
  return kek
}

/** Creates the missing senders of each chain. Opens each existing key once to prove that the KEK fits. */
export async function ensureSenders(
  db: Db,
  kek: PrivateKek,
  { chainIds, perChain }: { chainIds: number[]; perChain: number },
): Promise<void> {
  const purpose = 'operations'
  const known = await readSenders(db)
  for (const sender of known) await openAccount(kek, sender.sealedKey, senderKeyContext(sender))
  for (const chainId of chainIds) {
    const missing = perChain - known.filter((sender) => sender.chainId === BigInt(chainId)).length
    for (let i = 0; i < missing; i++) {
      const { address, sealed } = createSealedAccount(kek, (candidate) =>
        senderKeyContext({ chainId: BigInt(chainId), address: candidate, kekId: kek.id, purpose }),
      )
      const sender = { chainId: BigInt(chainId), address, kekId: kek.id, sealedKey: sealed }
      await insertSender(db, { ...sender, purpose })
    }
  }
}

/** The account that pays fundings; created on the first start. */
export async function ensureTreasury(db: Db, kek: PrivateKek): Promise<Treasury> {
  const known = await findTreasury(db)
  if (known) return known
  const { address, sealed } = createSealedAccount(kek, (candidate) =>
    treasuryContext({ address: candidate, kekId: kek.id }),
  )
  const treasury = { address, kekId: kek.id, sealed }
  await insertTreasury(db, treasury)
  return treasury
}

/** Makes the treasury a sender on each chain, so that it can refill the senders there. */
export async function ensureRefills(db: Db, treasury: Treasury, chainIds: number[]): Promise<void> {
  const { address, kekId, sealed: sealedKey } = treasury
  const known = await readAllSenders(db)
  for (const chainId of chainIds.map(BigInt)) {
    if (known.some((one) => one.chainId === chainId && one.address === address)) continue
    await insertSender(db, { chainId, address, kekId, sealedKey, purpose: 'treasury' })
  }
}
