import { afterAll, beforeAll, expect, test } from 'vitest'
import { id, zeroPadValue } from 'ethers'
import { readTotals } from '../../../admin/audit/totals.js'
import { readReceipt } from '../../../evm/read.js'
import { assetText, fromUnits } from '../../../domain/money.js'
import { ensureRefills } from '../../../signer/senders/keys.js'
import { refillOnce } from '../../../signer/senders/refill.js'
import { ETHER, setBalance } from '../../relayer/world/gas.js'
import { toolsOf } from './auditing.js'
import { createSettled, takeBackPayment, type Settled } from './settled.js'
import type { StoredWallet } from '../../../db/accounts/wallets.js'

let settled: Settled
beforeAll(async () => {
  settled = await createSettled()
})
afterAll(() => settled?.world.stop())

const refillUpTo = ETHER / 200n
/** High enough that a refill reaches its limit. */
const BASE_FEE = '0x5f5e100'

/** The treasury refills an empty sender. */
async function refillSender({ world }: Settled): Promise<string> {
  const [sender = ''] = world.senders
  const { chainId } = world.chain
  await ensureRefills(world.signerDb, world.treasury, [chainId])
  await setBalance(world, world.treasury.address, ETHER)
  await setBalance(world, sender, 0n)
  await world.rpc('anvil_setNextBlockBaseFeePerGas', [BASE_FEE])
  await world.mine()
  await world.index()
  const own = { highestWei: refillUpTo, dailyWei: ETHER, reserveWei: 0n }
  const limits = { 'ethereum-sepolia': own, 'arbitrum-sepolia': own, 'base-sepolia': own }
  const tools = { ...world.signer, limits, reported: new Set<string>() }
  await refillOnce(tools, world.signer.chains.byId(chainId))
  await world.broadcast()
  await world.mine()
  await world.index()
  return sender
}

/** Base units of USDC that the treasury has sent to wallets, according to the token's logs. */
async function paidTo({ world }: Settled, wallets: StoredWallet[]): Promise<bigint> {
  const [from, ...to] = [world.treasury, ...wallets].map(({ address }) => zeroPadValue(address, 32))
  const topics = [id('Transfer(address,address,uint256)'), from, to]
  const filter = { address: world.chain.usdc.address, fromBlock: '0x0', toBlock: 'latest', topics }
  const logs = await world.rpc<{ data: string }[]>('eth_getLogs', [filter])
  return logs.reduce((sum, { data }) => sum + BigInt(data), 0n)
}

test('readTotals: expenses of a sender match the chain to the wei', async () => {
  const { world } = settled
  const [client] = world.signer.chains.list
  if (!client) throw new Error('There is no chain.')
  const totals = await readTotals(toolsOf(world, {}), client)
  const total = totals.find(({ about }) => about.startsWith('sender '))
  const [, sender = ''] = /^sender (0x\w{40}) on /.exec(total?.about ?? '') ?? []
  const hashes = await world
    .db('chain_tx as t')
    .join('chain_tx_send as s', 's.tx_id', 't.id')
    .where({ 't.sender': sender })
    .pluck<string[]>('s.hash')
  const receipts = (await Promise.all(hashes.map((hash) => readReceipt(client, hash)))).filter(
    (one) => one !== undefined,
  )
  const wei = receipts.reduce((sum, one) => sum + one.gasUsed * one.gasPriceWei, 0n)
  expect(wei).toBeGreaterThan(0n)
  expect(total?.rows).toContain(`${receipts.length} transactions: ${fromUnits(wei, 18)} ETH of gas`)
  const has = BigInt(await client.send<string>('eth_getBalance', [sender, 'latest']))
  expect(total?.chain).toBe(`${fromUnits(has, 18)} ETH`)
})

test('readTotals: expenses of the treasury are gas, refills, and the test money that arrived', async () => {
  const { world } = settled
  const [client] = world.signer.chains.list
  if (!client) throw new Error('There is no chain.')
  const sender = await refillSender(settled)
  expect(await world.ethOf(sender)).toBe(refillUpTo)
  // A cancelled payment is no expense.
  await setBalance(world, sender, ETHER)
  const takenBack = await takeBackPayment(world)
  const { address } = world.treasury
  const hash = await world
    .db('chain_tx as t')
    .join('chain_tx_send as s', 's.tx_id', 't.id')
    .where({ 't.sender': address })
    .pluck<string[]>('s.hash')
  const receipt = await readReceipt(client, hash[0] ?? '')
  const gas = (receipt?.gasUsed ?? 0n) * (receipt?.gasPriceWei ?? 0n)
  expect([hash.length, gas > 0n]).toEqual([1, true])
  const paid = await paidTo(settled, [settled.funded.wallet, takenBack.wallet])
  expect(paid).toBeGreaterThan(0n)

  const totals = await readTotals(toolsOf(world, {}), client)
  const [treasury, ...more] = totals.filter(({ about }) => about.startsWith('treasury '))
  expect(more).toEqual([])
  const [has, units] = [await world.ethOf(address), await world.usdcOf(address)]
  expect(treasury).toEqual({
    about: `treasury ${address} on ${world.chain.name}`,
    rows: `1 transactions: ${fromUnits(gas, 18)} ETH of gas, ${fromUnits(refillUpTo, 18)} ETH to senders, ${assetText(paid)} USDC to wallets`,
    chain: `${fromUnits(has, 18)} ETH, ${assetText(units)} USDC`,
  })
})
