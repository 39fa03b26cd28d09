import { Interface, zeroPadValue } from 'ethers'
import { ENTRY_POINT_ADDRESS, type Chain } from '../chains/registry.js'
import { readLogRange } from '../chains/logRange.js'
import { readBlock, readContract, type Log, type LogFilter } from '../chains/read.js'
import { isOutcomeOf, readOutcome } from '../protocols/outcomes.js'
import { allBridges } from '../protocols/bridges/bridges.js'
import { topicOf } from '../protocols/events.js'
import { entryPoint } from '../protocols/userOperation.js'
import type { ChainClient } from '../chains/connect.js'
import type { OperationKind } from '../domain/operation.js'
import type { WatchedOperation } from '../db/lanes/booking.js'

const token = new Interface([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])

/** Blocks searched in one go: a search ends where it finds something. */
const SEARCHED_BLOCKS = 2_000n

/** An operation as the chain knows it. */
export type Keyed = {
  kind: OperationKind
  chainKey: string
  wallet: string
  treasury: string | null
}

/** True when the chain has executed the operation, by whomever and with whatever success. */
export async function isSpent(client: ChainClient, operation: Keyed): Promise<boolean> {
  const { kind, chainKey, wallet, treasury } = operation
  if (kind === 'mint') {
    const minted = await Promise.all(allBridges.map((one) => one.isMinted(client, chainKey)))
    return minted.includes(true)
  }
  if (kind === 'fund') {
    if (treasury === null) return false
    const { address: to } = client.chain.usdc
    const args = [treasury, chainKey]
    const call = { to, abi: token, name: 'authorizationState', args }
    return (await readContract(client, call))[0] === true
  }
  const call = { to: ENTRY_POINT_ADDRESS, abi: entryPoint, name: 'getNonce' }
  const [nonce] = await readContract(client, { ...call, args: [wallet, chainKey] })
  return ((nonce as bigint) & 0xffff_ffff_ffff_ffffn) > 0n
}

/**
 * The log of an operation whose key is spent, searched from the newest block downwards: of its account's own
 * operations alone.
 */
export async function findOutcomeLog(
  client: ChainClient,
  operation: Keyed,
): Promise<Log | undefined> {
  const head = await readBlock(client, 'latest')
  const filters = filtersOf(client.chain, operation)
  for (let to = head?.number ?? -1n; to >= 0n; to -= SEARCHED_BLOCKS) {
    const from = to < SEARCHED_BLOCKS ? 0n : to - SEARCHED_BLOCKS + 1n
    for (const filter of filters) {
      const logs = await readLogRange(client, { from, to }, filter)
      const found = logs.find((log) => isLogOf(client.chain, operation, log))
      if (found) return found
    }
  }
  return undefined
}

/** True for the log that is the outcome of this very operation. */
export function isLogOf(chain: Chain, operation: Keyed, log: Log): boolean {
  const outcome = readOutcome(chain, log)
  const watched = operation as WatchedOperation
  return outcome !== undefined && isOutcomeOf(outcome, watched)
}

function filtersOf(chain: Chain, { kind, chainKey, wallet, treasury }: Keyed): LogFilter[] {
  if (kind === 'mint') return allBridges.map((bridge) => bridge.mintLogs(chain, chainKey))
  if (kind === 'fund') {
    const topics = [
      [topicOf(token, 'AuthorizationUsed')],
      [zeroPadValue(treasury ?? '0x', 32)],
      [chainKey],
    ]
    return [{ emitters: [chain.usdc.address], topics }]
  }
  const topics = [[topicOf(entryPoint, 'UserOperationEvent')], null, [zeroPadValue(wallet, 32)]]
  return [{ emitters: [ENTRY_POINT_ADDRESS], topics }]
}
