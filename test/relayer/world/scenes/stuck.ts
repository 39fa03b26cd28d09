import { expect } from 'vitest'
import { toQuantity, type BaseWallet } from 'ethers'
import { openAccount } from '../../../../custody/open.js'
import { readSenders } from '../../../../operations/signing/signing.js'
import { senderKeyContext } from '../../../../signer/store.js'
import { createReplacer } from '../../../../signer/senders/replace.js'
import { usdcUnits, type Lend, type World } from '../fixture.js'
import type { Send } from '../rows.js'
import type { StoredWallet } from '../../../../db/accounts/wallets.js'

/** Mines blocks with the given base fee, wei. */
export async function mineAt(world: World, baseFeeWei: bigint, blocks = 1): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    await world.rpc('anvil_setNextBlockBaseFeePerGas', [toQuantity(baseFeeWei)])
    await world.mine()
  }
}

/** Clears the resend times, so that known bytes are broadcast again at once. */
export function forgetSent({ driver }: World): void {
  const { sentAt } = driver()
  for (const [hash, at] of sentAt) sentAt.set(hash, at - 60_000)
}

const replacers = new WeakMap<World, () => Promise<void>>()

/** Replaces stuck transactions, as the signer does in the background. */
export async function replaceStuck(world: World): Promise<void> {
  const { signer } = world
  const replace = replacers.get(world) ?? createReplacer(signer, signer.chains.byId(0))
  replacers.set(world, replace)
  await replace()
}

/** The account of a sender, as an attacker with its key has it. */
export async function openSender({ db, kek }: World): Promise<BaseWallet> {
  const [sender] = await readSenders(db)
  if (!sender) throw new Error('There is no sender.')
  return openAccount(kek, sender.sealedKey, senderKeyContext(sender))
}

/** Clears the retry times of signed operations without a transaction. */
export async function resubmitNow({ db }: World): Promise<void> {
  await db('operation').where({ state: 'signed', tx_id: null }).update({ leased_until: null })
}

/** Signs operations one at a time, each in its own transaction. */
export function useLend(world: () => World) {
  let lend: Lend
  let txId: bigint
  let before: bigint
  const transaction = async () => {
    const tx = await world()
      .db('chain_tx')
      .where({ id: txId.toString() })
      .first<TransactionRow | undefined>()
    if (!tx) throw new Error('Nothing was signed.')
    return tx
  }
  return {
    transaction,
    lend: () => lend,
    row: () => world().row(lend.operationId),
    async sends(): Promise<Send[]> {
      return (await world().sends()).filter((send) => send.tx_id === txId)
    },

    /** By a new wallet, or by one with a position. */
    async begin(wallet?: StoredWallet): Promise<void> {
      lend = await world().lend(wallet ?? (await world().createWallet(usdcUnits)), usdcUnits)
      before = await world().deposited(lend.wallet.address)
      await world().sign()
      const row = await world().row(lend.operationId)
      if (!row?.tx_id) throw new Error(`Nothing was signed: ${row?.message}`)
      txId = row.tx_id
    },

    /** Executed once, in a transaction below the sender's next nonce, with every nonce used. */
    async expectDone(by?: { minedSend: number }): Promise<void> {
      const row = await world().row(lend.operationId)
      expect(row).toMatchObject({ state: 'confirmed', success: true, units: '1000000' })
      const gained = (await world().deposited(lend.wallet.address)) - before
      // Below the interest of the earlier position.
      expect(Number(gained - usdcUnits) < 100 && gained >= usdcUnits).toBe(true)
      expect(await world().usdcOf(lend.wallet.address)).toBe(0n)
      if (by) {
        const { minedSend } = by
        const hash = (await this.sends())[minedSend - 1]?.hash
        expect(await transaction()).toMatchObject({ state: 'mined', mined_send: minedSend })
        expect(row?.tx_hash).toBe(hash)
      }
      await expectNoGaps(world())
    },
  }
}

type TransactionRow = {
  id: bigint
  sender: string
  nonce: bigint
  state: string
  mined_send: number
}

/** Every assigned nonce of the senders is used on the chain. */
export async function expectNoGaps(world: World): Promise<void> {
  const transactions = await world.transactions()
  for (const sender of world.senders) {
    const nonces = transactions.filter((tx) => tx.sender === sender).map(({ nonce }) => nonce)
    expect(nonces).toEqual(nonces.map((_, i) => BigInt(i)))
    const count = await world.rpc<string>('eth_getTransactionCount', [sender, 'latest'])
    expect(Number(count)).toBe(nonces.length)
  }
}
