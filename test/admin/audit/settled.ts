import { finalizeIntent } from '../../../activities/status.js'
import { forgetOperations } from '../../relayer/world/scenes/forget.js'
import {
  createWorld,
  finalityBlocks,
  usdcUnits,
  type Lend,
  type World,
} from '../../relayer/world/fixture.js'
import { setFrozen } from '../../relayer/world/scenes/freeze.js'
import { leaveTreasury, skipPauses } from '../../relayer/world/treasury.js'
import type { Db } from '../../../db/client/connect.js'

/** A world with final operations only. `waiting`: an intent without operations. */
export type Settled = { world: World; done: Lend; failed: Lend; funded: Lend; waiting: string }

export async function createSettled(): Promise<Settled> {
  const world = await createWorld({ senderCount: 1 })
  const done = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  const funded = await world.fund(await world.createWallet(0n))
  await world.round()
  await finalizeIntent(world.workerDb, { intentId: done.intentId })
  const failed = await world.lend(await world.createWallet(usdcUnits), usdcUnits)
  await world.sign()
  await setFrozen(world, true)
  await world.broadcast()
  await world.mine()
  await setFrozen(world, false)
  await world.index()
  const failure = { code: 'DEPOSIT_FAILED', message: 'It failed.', step: 1 }
  await finalizeIntent(world.workerDb, { intentId: failed.intentId, failure })
  const waiting = await world.insertLend(await world.createWallet(usdcUnits), usdcUnits)
  await world.mine(finalityBlocks)
  await world.index()
  return { world, done, failed, funded, waiting }
}

/** A payment that the treasury cancelled on the chain for lack of money. Afterwards the treasury has money again. */
export async function takeBackPayment(world: World): Promise<Lend> {
  const funding = await world.fund(await world.createWallet(0n))
  const include = async () => {
    await world.broadcast()
    await world.mine()
    await world.index()
  }
  await world.sign()
  await leaveTreasury(world, 0n)
  await include()
  await operationOf(world.db, funding).update({ inclusion_failures: 3 })
  await skipPauses(world)
  await world.sign()
  await include()
  await world.mint(world.treasury, usdcUnits)
  await world.mine()
  await world.index()
  return funding
}

export const operationOf = (db: Db, { operationId }: Lend) =>
  db('operation').where({ id: operationId })
export const intentOf = (db: Db, { intentId }: Lend) => db('intent').where({ id: intentId })

/** Deletes an operation and its signature, as the restore of an older backup does. */
export async function loseOperation(db: Db, lend: Lend): Promise<void> {
  await forgetOperations(db, [lend.operationId])
}

/** The columns of an unsigned operation. */
export const unsigned = {
  ...{ block_number: null, block_hash: null, log_index: null, tx_id: null },
  ...{ success: null, tx_hash: null, units: null },
}

/** Deletes the newest transaction of the world's sender, as the restore of an older backup does. */
export async function forgetNewest(db: Db, lend: Lend): Promise<void> {
  await operationOf(db, lend).update({ tx_id: null })
  const sender = await db('sender').first<{ next_nonce: bigint }>('next_nonce')
  const nonce = (sender.next_nonce - 1n).toString()
  const tx = db('chain_tx').where({ nonce })
  await db('operation').whereIn('tx_id', tx.clone().select('id')).update({ tx_id: null })
  await db('chain_tx_send').whereIn('tx_id', tx.clone().select('id')).delete()
  await tx.delete()
  await db('sender').update({ next_nonce: nonce })
}
