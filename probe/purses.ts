import { readBalance } from '../chains/read.js'
import { findTreasuryAddress } from '../db/keys.js'
import { readSenderAddresses } from '../db/lanes/signing.js'
import { assetText, fromUnits } from '../domain/money.js'
import { demoFunding } from '../domain/funding.js'
import { failed, ok, warning, type Row } from './look.js'
import type { ChainClient, Chains } from '../chains/connect.js'
import type { Finding } from '../domain/capability.js'
import type { Db } from '../db/connection/connect.js'
import type { Lane } from '../db/lanes/signing.js'

/** Gas of a lend as a transaction of its own: a bundle needs less for each. */
const LEND_GAS = 300_000n

/** Lanes that pay for fewer lends than this, and a treasury of fewer fundings, are soon empty. */
const FEW_LENDS = 100n
const FEW_FUNDINGS = 20n

/** Money of the service itself. `lasts`: so many lends, or fundings, at the present price of gas. */
export type Purse = {
  chain: string
  role: 'treasury' | 'lane'
  address: string
  asset: 'ETH' | 'USDC'
  units: bigint
  lasts: bigint
}

/** What treasury and lanes hold on the chains that answer. Those that the signer has not made yet are not there. */
export async function readPurses(db: Db, { list }: Chains): Promise<Purse[]> {
  const [treasury, senders] = await Promise.all([findTreasuryAddress(db), readSenderAddresses(db)])
  const asked = list.map(async (client) => {
    const { name, chainId } = client.chain
    const own = senders.filter((sender) => sender.chainId === BigInt(chainId))
    const isPaying = name === demoFunding.chain && treasury !== undefined
    return Promise.all([
      ...(isPaying ? [readTreasury(client, treasury)] : []),
      ...own.map((sender) => readGas(client, sender)),
    ])
  })
  const answers = await Promise.allSettled(asked)
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

async function readTreasury(client: ChainClient, address: string): Promise<Purse> {
  const { name, usdc } = client.chain
  const units = await readBalance(client, { token: usdc.address, owner: address })
  const lasts = units / demoFunding.units
  return { chain: name, role: 'treasury', address, asset: 'USDC', units, lasts }
}

/** What pays for gas: a lane's own, and what the treasury has to refill them. */
async function readGas(
  client: ChainClient,
  { sender: address, purpose }: Pick<Lane, 'sender' | 'purpose'>,
): Promise<Purse> {
  const [balance, price] = await Promise.all([
    client.send<string>('eth_getBalance', [address, 'latest']),
    client.send<string>('eth_gasPrice', []),
  ])
  const units = BigInt(balance)
  const lend = LEND_GAS * (BigInt(price) || 1n)
  return {
    chain: client.chain.name,
    role: purpose === 'treasury' ? 'treasury' : 'lane',
    address,
    asset: 'ETH',
    units,
    lasts: units / lend,
  }
}

/** Whether there is enough in them. Only a treasury without USDC disables anything. */
export function judgePurses(purses: Purse[]): Finding[] {
  return purses.map((purse) => ({ chain: purse.chain, ...judgePurse(purse) }))
}

function judgePurse(purse: Purse): Row {
  if (purse.role === 'lane') return judgeLane(purse)
  return purse.asset === 'USDC' ? judgeTreasury(purse) : judgeReserve(purse)
}

/** Lanes may be filled by hand as well. */
function judgeReserve({ address, units, lasts }: Purse): Row {
  const check = `treasury gas ${address}`
  if (lasts === 0n) return warning(check, 'gas', 'the treasury has no ETH to refill lanes with')
  const detail = `the treasury has ${fromUnits(units, 18)} ETH to refill lanes with`
  return lasts < FEW_LENDS ? warning(check, 'gas', detail) : ok(check, 'gas', detail)
}

function judgeTreasury({ address, units, lasts }: Purse): Row {
  const check = `treasury ${address}`
  const detail = `the treasury has ${assetText(units)} USDC`
  if (lasts === 0n) return failed(check, 'funding', detail)
  return lasts < FEW_FUNDINGS ? warning(check, 'funding', detail) : ok(check, 'funding', detail)
}

function judgeLane({ address, units, lasts }: Purse): Row {
  const check = `lane ${address}`
  const detail = `the lane has ${fromUnits(units, 18)} ETH, which pays for ${lasts} lends`
  if (lasts === 0n) return failed(check, 'gas', detail)
  return lasts < FEW_LENDS ? warning(check, 'gas', detail) : ok(check, 'gas', detail)
}
