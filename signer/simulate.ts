import { toQuantity } from 'ethers'
import { word } from '../chains/abi.js'
import { decodeAggregate } from '../chains/aggregate.js'
import { encodeTogether } from '../chains/multicall.js'
import { DELEGATED_CODE, ENTRY_POINT_ADDRESS } from '../chains/registry.js'
import { atMost } from './waves.js'
import type { Round } from './round.js'

/** Longer none waits for what is asked together: one of them may be what has no answer. */
const PATIENCE_MS = 2_000

/**
 * Stands in the EntryPoint's place while calls are simulated, so that wallets take them. It is given a wallet, as a
 * word, and the data of a call. It makes the call and measures its gas, undoes it, makes it again with the limit that
 * follows, and undoes that too, so that it reverts always: with a word that is the limit, or zero where the call has
 * failed. The limit is half as much again as what was used and 40,000, about what a transaction has to pay for itself
 * and its data, which an estimate holds as well.
 */
const MEASURE = `0x${[
  // 00: copies the calldata to memory; to 3a when the caller is this very contract.
  '365f5f37' + '303314603a57',
  // 0a: calls itself with all of it, and takes the word that this reverts with, which is zero if there is none.
  '602036365f5f305af150' + '3651',
  // 16: to 33 with zero; else the limit is (word + 40,000) * 3 / 2.
  '8015603357' + '619c4001' + '60030260011c',
  // 25: calls the wallet with the limit; the word is the limit, or zero when that has failed.
  '5f5f6020360360205f5f3586f1' + '02',
  // 33: reverts with the word.
  '5b5f5260205ffd',
  // 3a: calls the wallet with all gas; the word is what it has used, or zero when that has failed; to 33.
  '5b5a5f5f6020360360205f5f355af1' + '5a90910302' + '603356',
].join('')}`

/** Of 32 bytes with `0x`. */
const WORD_LENGTH = 66

/** A call of a wallet by the EntryPoint, which the wallet takes as one that is delegated, though it may not be yet. */
export type Simulated = { wallet: string; data: string }

type Asked = Simulated & { tell(limit: bigint | undefined): void }

const askedOf = new WeakMap<Round, Asked[]>()

/**
 * Runs calls at the round's head, each as if there were no other: what is asked in the same turn of the event loop
 * costs the node one question, and each call runs twice instead of as often as an estimate tries.
 *
 * @returns A gas limit with which the call has succeeded. Undefined where nothing is known of it: it has failed, was
 *   asked alone, or the node did not answer all of them in time. Then it is to be estimated alone, which tells why.
 */
export function simulateTogether(round: Round, call: Simulated): Promise<bigint | undefined> {
  const asked = askedOf.get(round) ?? []
  askedOf.set(round, asked)
  return new Promise((resolve) => {
    asked.push({ ...call, tell: resolve })
    if (asked.length === 1) setImmediate(() => void tellAll(round, asked.splice(0)))
  })
}

async function tellAll(round: Round, asked: Asked[]): Promise<void> {
  // Whatever a node has against it, each alone is asked the usual way.
  const limits = asked.length > 1 ? measure(round, asked).catch(() => []) : Promise.resolve([])
  const known = (await atMost<(bigint | undefined)[]>(limits, PATIENCE_MS)) ?? []
  asked.forEach(({ tell }, i) => tell(known[i]))
}

async function measure(
  { client, head }: Round,
  calls: Simulated[],
): Promise<(bigint | undefined)[]> {
  const together = encodeTogether(
    calls.map(({ wallet, data }) => {
      return { to: ENTRY_POINT_ADDRESS, data: `0x${word(wallet).hex}${data.slice(2)}` }
    }),
  )
  // By its delegation rather than the delegate's own code, which would be most of what is sent.
  const delegated = calls.map(({ wallet }) => [wallet, { code: DELEGATED_CODE }] as const)
  const overrides = { [ENTRY_POINT_ADDRESS]: { code: MEASURE }, ...Object.fromEntries(delegated) }
  const returned = await client.send<string>('eth_call', [together, toQuantity(head), overrides])
  return decodeAggregate(returned).map(({ success, returnData }) => {
    const isTold = !success && returnData.length === WORD_LENGTH
    return isTold && BigInt(returnData) > 0n ? BigInt(returnData) : undefined
  })
}
