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

/** Gas of a lend in its own transaction. A lend in a bundle needs less. */
const LEND_GAS = 300_000n

/** Below these numbers of lends and fundings a balance gets a warning. */
const FEW_LENDS = 100n
const FEW_FUNDINGS = 20n

/** A token balance of the service itself. `lasts`: the lends, or fundings, it covers at the current gas price. */
export type Purse = {
  chain: string
  role: 'treasury' | 'lane'
  address: string
  asset: 'ETH' | 'USDC'
  units: bigint
  lasts: bigint
}

/** Balances of treasury and senders on the chains that answer. Keys are missing until the signer creates them. */
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

/** The ETH of a sender, or of the treasury, which refills the senders. */
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

/** Checks whether the balances suffice. Only a treasury without USDC disables a capability. */
export function judgePurses(purses: Purse[]): Finding[] {
  return purses.map((balance) => ({ chain: balance.chain, ...judgePurse(balance) }))
}

function judgePurse(balance: Purse): Row {
  if (balance.role === 'lane') return judgeSender(balance)
  return balance.asset === 'USDC' ? judgeTreasury(balance) : judgeReserve(balance)
}

/** Never fails, because operators may also fund senders by hand. */
function judgeReserve({ address, units, lasts }: Purse): Row {
  const check = `treasury gas ${address}`
  if (lasts === 0n) return warning(check, 'gas', 'the treasury has no ETH to refill senders')
  const detail = `the treasury has ${fromUnits(units, 18)} ETH to refill senders`
  return lasts < FEW_LENDS ? warning(check, 'gas', detail) : ok(check, 'gas', detail)
}

function judgeTreasury({ address, units, lasts }: Purse): Row {
  const check = `treasury ${address}`
  const detail = `the treasury has ${assetText(units)} USDC`
  if (lasts === 0n) return failed(check, 'funding', detail)
  return lasts < FEW_FUNDINGS ? warning(check, 'funding', detail) : ok(check, 'funding', detail)
}

function judgeSender({ address, units, lasts }: Purse): Row {
  const check = `sender ${address}`
  const detail = `the sender has ${fromUnits(units, 18)} ETH, enough for ${lasts} lends`
  if (lasts === 0n) return failed(check, 'gas', detail)
  return lasts < FEW_LENDS ? warning(check, 'gas', detail) : ok(check, 'gas', detail)
}
