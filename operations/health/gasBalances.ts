import { readBalance } from '../../evm/read.js'
import { findTreasuryAddress } from '../../db/keys.js'
import { readSenderAddresses } from '../signing/signing.js'
import { assetText, fromUnits } from '../../domain/money.js'
import { demoFunding } from '../../domain/intent/funding.js'
import { failed, ok, warning, type CheckResult } from './look.js'
import type { ChainClient, Chains } from '../../evm/connect.js'
import type { Finding } from '../../domain/capability.js'
import type { Db } from '../../db/client/connect.js'
import type { Sender } from '../signing/signing.js'

/** Gas of a lend in its own transaction. A lend in a bundle needs less. */
const LEND_GAS = 300_000n

/** Below these numbers of lends and fundings a balance gets a warning. */
const FEW_LENDS = 100n
const FEW_FUNDINGS = 20n

/** A token balance of the service itself. `lasts`: the lends, or fundings, it covers at the current gas price. */
export type OperatorBalance = {
  chain: string
  role: 'treasury' | 'sender'
  address: string
  asset: 'ETH' | 'USDC'
  units: bigint
  lasts: bigint
}

/** Balances of treasury and senders on the chains that answer. Keys are missing until the signer creates them. */
export async function readOperatorBalances(db: Db, { list }: Chains): Promise<OperatorBalance[]> {
  const [treasury, senders] = await Promise.all([findTreasuryAddress(db), readSenderAddresses(db)])
  const reads = list.map(async (client) => {
    const { name, chainId } = client.chain
    const own = senders.filter((sender) => sender.chainId === BigInt(chainId))
    const isPaying = name === demoFunding.chain && treasury !== undefined
    return Promise.all([
      ...(isPaying ? [readTreasury(client, treasury)] : []),
      ...own.map((sender) => readGas(client, sender)),
    ])
  })
  const answers = await Promise.allSettled(reads)
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

async function readTreasury(client: ChainClient, address: string): Promise<OperatorBalance> {
  const { name, usdc } = client.chain
  const units = await readBalance(client, { token: usdc.address, owner: address })
  const lasts = units / demoFunding.units
  return { chain: name, role: 'treasury', address, asset: 'USDC', units, lasts }
}

/** The ETH of a sender, or of the treasury, which refills the senders. */
async function readGas(
  client: ChainClient,
  { address, purpose }: Pick<Sender, 'address' | 'purpose'>,
): Promise<OperatorBalance> {
  const [balance, price] = await Promise.all([
    client.send<string>('eth_getBalance', [address, 'latest']),
    client.send<string>('eth_gasPrice', []),
  ])
  const units = BigInt(balance)
  const lend = LEND_GAS * (BigInt(price) || 1n)
  return {
    chain: client.chain.name,
    role: purpose === 'treasury' ? 'treasury' : 'sender',
    address,
    asset: 'ETH',
    units,
    lasts: units / lend,
  }
}

/** Checks whether the balances suffice. Only a treasury without USDC disables a capability. */
export function judgeOperatorBalances(operatorBalances: OperatorBalance[]): Finding[] {
  return operatorBalances.map((balance) => ({
    chain: balance.chain,
    ...judgeOperatorBalance(balance),
  }))
}

function judgeOperatorBalance(balance: OperatorBalance): CheckResult {
  if (balance.role === 'sender') return judgeSender(balance)
  return balance.asset === 'USDC' ? judgeTreasury(balance) : judgeReserve(balance)
}

/** Never fails, because operators may also fund senders by hand. */
function judgeReserve({ address, units, lasts }: OperatorBalance): CheckResult {
  const check = `treasury gas ${address}`
  if (lasts === 0n) return warning(check, 'gas', 'the treasury has no ETH to refill senders')
  const detail = `the treasury has ${fromUnits(units, 18)} ETH to refill senders`
  return lasts < FEW_LENDS ? warning(check, 'gas', detail) : ok(check, 'gas', detail)
}

function judgeTreasury({ address, units, lasts }: OperatorBalance): CheckResult {
  const check = `treasury ${address}`
  const detail = `the treasury has ${assetText(units)} USDC`
  if (lasts === 0n) return failed(check, 'funding', detail)
  return lasts < FEW_FUNDINGS ? warning(check, 'funding', detail) : ok(check, 'funding', detail)
}

function judgeSender({ address, units, lasts }: OperatorBalance): CheckResult {
  const check = `sender ${address}`
  const detail = `the sender has ${fromUnits(units, 18)} ETH, enough for ${lasts} lends`
  if (lasts === 0n) return failed(check, 'gas', detail)
  return lasts < FEW_LENDS ? warning(check, 'gas', detail) : ok(check, 'gas', detail)
}
