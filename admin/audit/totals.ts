import { readBalance, readReceipt } from '../../evm/read.js'
import { assetText, fromUnits } from '../../domain/money.js'
import {
  pageSpent,
  readAllSenders,
  type FundedSender,
  type MinedTransaction,
} from './rows/totals.js'
import { pagesOf } from './pages.js'
import type { ChainClient } from '../../evm/connect.js'
import type { AuditTools } from './tools.js'

/**
 * The recorded expenses of a sender next to its current balance. They need not match, because the initial balance is not
 * recorded and anyone can pay in.
 */
export type SenderTotals = { about: string; rows: string; chain: string }

type Sum = { count: number; gasWei: bigint; l1Wei: bigint; movedWei: bigint }

/** Totals of the senders and the treasury of a chain: gas, L1 fees, refills and fundings by the rows; current balances. */
export async function readTotals(
  { db, progress }: AuditTools,
  client: ChainClient,
): Promise<SenderTotals[]> {
  const { chainId, name } = client.chain
  progress(`${name}: totals of senders and treasury`)
  const senders = await readAllSenders(db, chainId)
  const sums = new Map<string, Sum>(senders.map(({ sender }) => [sender, nothing()]))
  const read = (page: { after: string; limit: number }) => pageSpent(db, chainId, page)
  for await (const page of pagesOf(read, ({ id }) => String(id))) {
    await Promise.all(page.map(async (one) => add(client, one, sums.get(one.sender))))
  }
  return Promise.all(senders.map((one) => toFigure(client, one, sums.get(one.sender) ?? nothing())))
}

const nothing = (): Sum => ({ count: 0, gasWei: 0n, l1Wei: 0n, movedWei: 0n })

async function add(
  client: ChainClient,
  { hashes, valueWei }: MinedTransaction,
  sum?: Sum,
): Promise<void> {
  const found = await Promise.all(hashes.map((hash) => readReceipt(client, hash)))
  const receipt = found.find((one) => one !== undefined)
  // The audit reports it as a transaction without a block.
  if (!receipt || !sum) return
  sum.count += 1
  sum.gasWei += receipt.gasUsed * receipt.gasPriceWei
  sum.l1Wei += receipt.l1FeeWei
  if (receipt.success) sum.movedWei += BigInt(valueWei)
}

async function toFigure(
  client: ChainClient,
  { sender, purpose, fundedUnits }: FundedSender,
  { count, gasWei, l1Wei, movedWei }: Sum,
): Promise<SenderTotals> {
  const { name, usdc } = client.chain
  const wei = BigInt(await client.send<string>('eth_getBalance', [sender, 'latest']))
  const left = [
    `${count} transactions: ${eth(gasWei)} of gas`,
    ...(l1Wei > 0n ? [`${eth(l1Wei)} of L1 fees`] : []),
    ...(movedWei > 0n ? [`${eth(movedWei)} to senders`] : []),
  ]
  if (purpose !== 'treasury') {
    return { about: `sender ${sender} on ${name}`, rows: left.join(', '), chain: eth(wei) }
  }
  const units = await readBalance(client, { token: usdc.address, owner: sender })
  const funded = `${assetText(BigInt(fundedUnits))} USDC to wallets`
  return {
    about: `treasury ${sender} on ${name}`,
    rows: [...left, funded].join(', '),
    chain: `${eth(wei)}, ${assetText(units)} USDC`,
  }
}

const eth = (wei: bigint) => `${fromUnits(wei, 18)} ETH`
