import { insertIntent } from '../../db/intents.js'
import { insertReservation } from '../../db/reservations.js'
import { fromUnits } from '../../domain/money.js'
import { assetOf } from '../../protocols/markets.js'
import type { ChainName, Market } from '../../chains/registry.js'
import type { Wallet } from '../../db/wallets.js'
import type { ExecutionPlan } from '../../domain/intent.js'
import type { BridgeWorld } from './bridgeFixture.js'

export function marketOf(
  world: BridgeWorld,
  name: ChainName,
  protocol: Market['protocol'],
): Market {
  const market = world.at(name).chain.markets.find((one) => one.protocol === protocol)
  if (!market) throw new Error(`There is no ${protocol} on ${name}.`)
  return market
}

/** Lends money of the market's own token in one market, whatever its rate. */
export async function lendIn(
  world: BridgeWorld,
  wallet: Wallet,
  name: ChainName,
  protocol: Market['protocol'],
  units: bigint,
): Promise<void> {
  const site = world.at(name)
  const market = marketOf(world, name, protocol)
  await site.give(wallet.address, units, market.underlying)
  const asset = assetOf(site.chain, market)
  const holder = { accountId: wallet.accountId, walletId: wallet.id, requestId: 'req' }
  const request = { action: 'lend', asset, amountUnits: units, chain: name } as const
  const plan = planOf(name, market, asset, units)
  const intent = await insertIntent(world.db, holder, request, units, plan)
  await insertReservation(world.db, {
    ...{ intentId: intent.id, sequence: 1, walletId: wallet.id, chainId: site.chain.chainId },
    ...{ token: market.underlying, units, market: market.address },
  })
  const row = await world.perform({ ...intent, plan, wallet }, 1, 'deposit')
  if (!row?.success) throw new Error(`It was not lent: ${row?.message}`)
}

function planOf(chain: ChainName, market: Market, asset: string, units: bigint): ExecutionPlan {
  const { protocol, address } = market
  const place = { type: 'deposit', sequence: 1, chain, protocol, market: address } as const
  return {
    ...{ strategy: 'direct-deposit', targetChain: chain, targetProtocol: protocol },
    steps: [{ ...place, asset, amount: fromUnits(units, 6) }],
    ...{ expectedApy: 1, estimatedGasUsd: 0, estimatedTime: '1-5 seconds', reasoning: 'test' },
  }
}
