import { Transaction } from 'ethers'

/** JSON-RPC: the code of geth for whatever has none of its own. */
const REFUSED = -32_000
/** Far more nonces than wait anywhere at once: a node may run for days. */
const MOST_NONCES = 10_000

/** Asks the node behind for a transaction by its hash; null when it has none. */
type FindTransaction = (hash: string) => Promise<{ blockNumber: string | null } | null>

/** A transaction as a node gets it. Its hash and sender are costly: they are worked out once. */
export type Sent = { raw: string; transaction: Transaction; hash: string; sender: string }

/** The refusal of a transaction, undefined when it may pass. */
export type PoolRule = (sent: Sent) => Promise<{ code: number; message: string } | undefined>

type Passed = { hash: string; maxFeeWei: bigint; tipWei: bigint }

/**
 * Stand-in for what geth's pool asks of bytes that shall take the place of others: both fees at least a tenth higher,
 * and higher in any case. anvil takes them at one percent more, so that this is asked before it.
 *
 * @returns The rule, which remembers what it let pass.
 * @see https://github.com/ethereum/go-ethereum/blob/master/core/txpool/legacypool/list.go
 */
export function createPoolRule(find: FindTransaction): PoolRule {
  const passed = new Map<string, Passed>()
  return async ({ transaction, hash, sender }) => {
    const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = transaction
    const maxFeeWei = maxFeePerGas ?? gasPrice ?? 0n
    const fees = { hash, maxFeeWei, tipWei: maxPriorityFeePerGas ?? maxFeeWei }
    const key = `${chainId}/${sender}/${nonce}`
    const before = passed.get(key)
    const isWaiting = async () => before && (await find(before.hash))?.blockNumber === null
    if (before && before.hash !== hash && !isDearer(before, fees) && (await isWaiting())) {
      return { code: REFUSED, message: 'replacement transaction underpriced' }
    }
    if (passed.size >= MOST_NONCES) passed.clear()
    passed.set(key, fees)
    return undefined
  }
}

/** Reads a raw transaction; undefined for what is none: that is the node's to refuse. */
export function readSent(raw: string): Sent | undefined {
  try {
    const transaction = Transaction.from(raw)
    const { hash, from: sender } = transaction
    return hash && sender ? { raw, transaction, hash, sender } : undefined
  } catch {
    return undefined
  }
}

const isDearer = (before: Passed, sent: Passed) =>
  isRaised(before.maxFeeWei, sent.maxFeeWei) && isRaised(before.tipWei, sent.tipWei)

const isRaised = (before: bigint, wei: bigint) => wei > before && wei >= (before * 110n) / 100n
