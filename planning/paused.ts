import { disabledBecause, type ChainClient, type Chains } from '../evm/connect.js'
import { readBalance } from '../evm/read.js'
import { findToken } from '../evm/registry.js'
import { readPauses, whyPaused } from '../db/pauses.js'
import type { Db } from '../db/client/connect.js'
import type { IndexedBlock } from '../db/intents/reservations.js'
import type { IntentRequest } from '../domain/intent/intent.js'
import type { PausedChain } from '../domain/plan/market.js'
import type { PlanReservations } from './reserved.js'

/** `idle`: clients that are disabled only by an operator's pause. */
export type PauseView = { clients: ChainClient[]; idle: ChainClient[] }

/**
 * The chains for planning. A paused chain counts as disabled, so that new plans avoid it. Existing plans wait.
 */
export async function withPauses(db: Db, { list }: Pick<Chains, 'list'>): Promise<PauseView> {
  const pauses = await readPauses(db)
  const idle: ChainClient[] = []
  const clients = list.map((client) => {
    const why = whyPaused(pauses, client.chain.chainId)
    if (!why || disabledBecause(client, 'chain')) return client
    const { name: chain } = client.chain
    const facts = { chain, check: 'pause', capability: 'chain', outcome: 'failed' } as const
    const findings = [...client.condition.findings, { ...facts, detail: why }]
    const paused = { ...client, condition: { findings } }
    idle.push(paused)
    return paused
  })
  return { clients, idle }
}

/** A wallet's balance on a paused chain, without `balanceUnits` where unknown. */
export type PausedPosition = { client: ChainClient; indexed?: IndexedBlock; balanceUnits?: bigint }

/** Reads balances on paused chains for a lend, so that a pause is not reported as missing money. */
export async function readPaused(
  clients: ChainClient[],
  indexed: IndexedBlock[],
  { wallet, request }: { wallet: string; request: IntentRequest },
): Promise<PausedPosition[]> {
  if (request.action !== 'lend') return []
  return Promise.all(
    clients.map(async (client): Promise<PausedPosition> => {
      const at = indexed.find(({ chainId }) => chainId === BigInt(client.chain.chainId))
      const token = findToken(client.chain, request.asset)?.address
      if (!at) return { client }
      if (!token) return { client, indexed: at, balanceUnits: 0n }
      const holding = { token, owner: wallet, block: { blockHash: at.hash } }
      const balanceUnits = await readBalance(client, holding).catch(() => undefined)
      return balanceUnits === undefined ? { client } : { client, indexed: at, balanceUnits }
    }),
  )
}

/** The paused chain, with its balance minus the reservations of other intents. */
export function toPausedChain(
  { client, indexed, balanceUnits }: PausedPosition,
  asset: string,
  { reserved }: PlanReservations,
): PausedChain {
  const { chain } = client
  const why = disabledBecause(client, 'chain') ?? ''
  const token = findToken(chain, asset)?.address
  if (!indexed || balanceUnits === undefined) return { chain: chain.name, why }
  const heldUnits = token ? reserved(chain, token) : 0n
  const availableUnits = balanceUnits > heldUnits ? balanceUnits - heldUnits : 0n
  return { chain: chain.name, why, availableUnits }
}
