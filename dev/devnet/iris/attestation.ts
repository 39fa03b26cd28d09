import { AbiCoder, concat, dataSlice, id, keccak256, toBeHex } from 'ethers'
import {
  cctpFields,
  decodeCctpMessage,
  type CctpMessage,
} from '../../../evm/bridges/cctp/message.js'
import { MULTICALL_ADDRESS } from '../../../evm/calls/multicall.js'
import { callRpc } from '../rpc.js'
import { type AttesterKey } from '../contracts/cctp.js'

/** A chain of the bridge. `transmitter` emits the messages of its burns. */
export type BurnChain = { domain: number; rpcUrl: string; transmitter: string }

/** Faults on demand. */
export type Faults = {
  /** Minimum time between the first request for a burn and its attestation. */
  delayMs: number
  /** Attests no further burns. Existing attestations stay. */
  stuck: boolean
  /** Finds no burn. */
  notFound: boolean
  /** Fast attestations have already expired when they are created. */
  expire: boolean
  /** Responds with 503 to every request. */
  outage: boolean
  /** Limits of fast transfers in USDC: for one burn, and for Circle's remaining allowance. */
  fastMaximum: number
  fastAllowance: number
}

/** Blocks, the burn's own included, until a burn is attested as confirmed or as final. */
export type Confirmations = { fast: number; standard: number }

/** A burn in the view of the service. `delayReason`: why a requested fast transfer is not fast. */
export type SeenBurn = {
  nonce: string
  /** Absent while it is pending. */
  attested: Attested | undefined
  delayReason: DelayReason | null
}
type DelayReason = 'insufficient_fee' | 'amount_above_max' | 'insufficient_allowance_available'
type Attested = { message: string; decoded: CctpMessage; attestation: string }

export const finality = { confirmed: 1_000, final: 2_000 } as const

/** About a day on the slower chains, and on chains whose contracts count the blocks of a slower chain. */
export const FAST_LIFE_BLOCKS = 86_400

const BPS_SCALE = 10_000n
/** A fee in basis points may have three decimals. */
const BPS_FRACTION = 1_000

const USDC_SCALE = 1_000_000

const messageSent = id('MessageSent(bytes)')
/** The selector: the first four bytes of a call. */
const getBlockNumber = dataSlice(id('getBlockNumber()'), 0, 4)

type Options = {
  chains: BurnChain[]
  key: AttesterKey
  confirmations: Confirmations
  /** Fee of a fast transfer in basis points of the amount. */
  fastFeeBps: number
  /** Blocks until a fast attestation expires, as the destination's contracts count them. */
  fastLifeBlocks: number
  faults: Faults
}

type BurnReceipt = {
  status: string
  blockNumber: string
  logs: { address: string; topics: string[]; data: string }[]
}
/** `sent`: the message as the chain emitted it. */
type FoundBurn = { nonce: string; sent: string; blocks: number }

export type Attester = ReturnType<typeof createAttester>

/**
 * Attests burns of the devnet by Circle's rules. Attestations are kept in memory. After a restart the same burn is
 * attested again, with the same nonce.
 */
export function createAttester(options: Options) {
  const { chains, key, faults } = options
  const firstAsked = new Map<string, number>()
  const attested = new Map<string, Attested>()
  const toFinalize = new Set<string>()
  const findChain = (domain: number) => chains.find((one) => one.domain === domain)

  /** The burns of a transaction in order. Empty until it is mined. */
  async function findBurns(domain: number, txHash: string): Promise<SeenBurn[]> {
    const chain = findChain(domain)
    if (!chain || faults.notFound) return []
    const burns = await readBurns(chain, txHash)
    if (!firstAsked.has(txHash)) firstAsked.set(txHash, Date.now())
    const ageMs = Date.now() - (firstAsked.get(txHash) ?? 0)
    return Promise.all(burns.map((burn) => attest(burn, ageMs)))
  }

  async function attest(burn: FoundBurn, ageMs: number): Promise<SeenBurn> {
    const { nonce, sent } = burn
    const { destinationDomain } = decodeCctpMessage(sent)
    const { isFast, fee, delayReason } = classify(sent, options)
    const executed = reachedFinality(burn, ageMs, options)
    if (!attested.has(nonce) && isFast && executed > 0) {
      const expirationBlock = await findExpiration(destinationDomain)
      const verdict = { executed: finality.confirmed, fee, expirationBlock }
      attested.set(nonce, sign(key, burn, verdict))
    }
    if (executed === finality.final && (!attested.has(nonce) || toFinalize.delete(nonce))) {
      attested.set(nonce, sign(key, burn, { executed, fee, expirationBlock: 0n }))
    }
    return { nonce, attested: attested.get(nonce), delayReason }
  }

  async function findExpiration(domain: number): Promise<bigint> {
    const chain = findChain(domain)
    if (!chain) return 0n
    // The block number that contracts there see. On Arbitrum it differs from the chain's own block number.
    const call = { to: MULTICALL_ADDRESS, data: getBlockNumber }
    const seen = BigInt(await callRpc<string>(chain.rpcUrl, 'eth_call', [call, 'latest']))
    return faults.expire ? seen : seen + BigInt(options.fastLifeBlocks)
  }

  /** Creates a new attestation of a fast message, as a final one. A final attestation stays. */
  function finalize(nonce: string): 'accepted' | 'final' | 'unknown' {
    const executed = attested.get(nonce)?.decoded.finalityThresholdExecuted
    if (executed === undefined) return 'unknown'
    if (executed === finality.final) return 'final'
    toFinalize.add(nonce)
    return 'accepted'
  }

  return { findBurns, finalize, domains: chains.map(({ domain }) => domain) }
}

/** The burns of a transaction. Empty when it is not mined or has failed. */
async function readBurns({ rpcUrl, transmitter }: BurnChain, txHash: string): Promise<FoundBurn[]> {
  const [receipt, head] = await Promise.all([
    callRpc<BurnReceipt | null>(rpcUrl, 'eth_getTransactionReceipt', [txHash]),
    callRpc<string>(rpcUrl, 'eth_blockNumber'),
  ])
  const isMessage = ({ address, topics }: BurnReceipt['logs'][number]) =>
    topics[0] === messageSent && address.toLowerCase() === transmitter.toLowerCase()
  return (receipt?.logs ?? []).filter(isMessage).map(({ data }, index) => ({
    // Derived from values that a restart of the service or another block does not change.
    nonce: keccak256(concat([txHash, toBeHex(index, 32)])),
    sent: AbiCoder.defaultAbiCoder().decode(['bytes'], data)[0] as string,
    blocks: Number(head) - Number(receipt?.blockNumber) + 1,
  }))
}

/**
 * Whether a burn is a fast transfer, and its fee. A burn with too low a fee, or above the limit, becomes a standard
 * one.
 */
function classify(sent: string, options: Pick<Options, 'fastFeeBps' | 'faults'>) {
  const { amount, maxFee, minFinalityThreshold } = decodeCctpMessage(sent)
  const fee = fastFee(amount, options.fastFeeBps)
  const slow = (delayReason: DelayReason | null) => ({ isFast: false, fee: 0n, delayReason })
  if (minFinalityThreshold > finality.confirmed) return slow(null)
  if (maxFee < fee) return slow('insufficient_fee')
  const { fastMaximum, fastAllowance } = options.faults
  if (amount > fastMaximum * USDC_SCALE) return slow('amount_above_max')
  if (amount > fastAllowance * USDC_SCALE) return slow('insufficient_allowance_available')
  return { isFast: true, fee, delayReason: null }
}

/** The finality of a burn that the faults allow, 0 for none. */
function reachedFinality(
  { blocks }: FoundBurn,
  ageMs: number,
  { confirmations, faults }: Pick<Options, 'confirmations' | 'faults'>,
): number {
  if (faults.stuck || ageMs < faults.delayMs) return 0
  if (blocks >= confirmations.standard) return finality.final
  return blocks >= confirmations.fast ? finality.confirmed : 0
}

type AttestationVerdict = { executed: number; fee: bigint; expirationBlock: bigint }

function sign(key: AttesterKey, { nonce, sent }: FoundBurn, verdict: AttestationVerdict): Attested {
  const message = fill(sent, {
    nonce: BigInt(nonce),
    finalityThresholdExecuted: BigInt(verdict.executed),
    feeExecuted: verdict.fee,
    expirationBlock: verdict.expirationBlock,
  })
  const attestation = key.attest(message)
  return { message, decoded: decodeCctpMessage(message), attestation }
}

/** Base units, rounded up. */
function fastFee(amount: bigint, feeBps: number): bigint {
  const scale = BPS_SCALE * BigInt(BPS_FRACTION)
  return (amount * BigInt(Math.round(feeBps * BPS_FRACTION)) + scale - 1n) / scale
}

/** Writes fields into the bytes of a message. */
function fill(message: string, values: Partial<Record<keyof typeof cctpFields, bigint>>): string {
  return Object.entries(values).reduce((bytes, [name, value]) => {
    const [start, size] = cctpFields[name as keyof typeof cctpFields]
    const [before, after] = [dataSlice(bytes, 0, start), dataSlice(bytes, start + size)]
    return concat([before, toBeHex(value, size), after])
  }, message)
}
