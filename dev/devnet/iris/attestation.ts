import { AbiCoder, concat, dataSlice, id, keccak256, toBeHex } from 'ethers'
import {
  cctpFields,
  decodeCctpMessage,
  type CctpMessage,
} from '../../../evm/bridges/cctp/message.js'
import { MULTICALL_ADDRESS } from '../../../evm/calls/multicall.js'
import { callRpc } from '../rpc.js'
import { type AttesterKey } from '../contracts/cctp.js'

/** A chain between which money is moved. `transmitter` emits the messages of its burns. */
export type BurnChain = { domain: number; rpcUrl: string; transmitter: string }

/** What goes wrong on demand. */
export type Faults = {
  /** Attests no sooner than this after it was first asked for a burn. */
  delayMs: number
  /** Attests nothing any more. What is attested stays. */
  stuck: boolean
  /** Knows no burn. */
  notFound: boolean
  /** Fast attestations have expired when they are made. */
  expire: boolean
  /** Answers 503 to everything. */
  outage: boolean
  /** USDC above which a burn is no fast transfer: of one, and of what Circle still vouches for. */
  fastMaximum: number
  fastAllowance: number
}

/** Blocks on top of and including a burn's own before it is attested as confirmed, or as final. */
export type Confirmations = { fast: number; standard: number }

/** A burn as the service sees it. `delayReason`: why one that was to be fast is not. */
export type SeenBurn = {
  nonce: string
  /** Absent while it is pending. */
  attested: Attested | undefined
  delayReason: DelayReason | null
}
type DelayReason = 'insufficient_fee' | 'amount_above_max' | 'insufficient_allowance_available'
type Attested = { message: string; decoded: CctpMessage; attestation: string }

export const finality = { confirmed: 1_000, final: 2_000 } as const

/** About a day on the slower chains, and on those whose contracts count the blocks of a slower one. */
export const FAST_LIFE_BLOCKS = 86_400

const BPS_SCALE = 10_000n
/** A fee in basis points may have three decimals. */
const BPS_FRACTION = 1_000

const USDC_SCALE = 1_000_000

const messageSent = id('MessageSent(bytes)')
/** The first four bytes: what a call of it begins with. */
const getBlockNumber = dataSlice(id('getBlockNumber()'), 0, 4)

type Options = {
  chains: BurnChain[]
  key: AttesterKey
  confirmations: Confirmations
  /** Basis points of the amount that a fast transfer costs. */
  fastFeeBps: number
  /** Blocks, as contracts of the destination count them, after which a fast attestation expires. */
  fastLifeBlocks: number
  faults: Faults
}

type Receipt = {
  status: string
  blockNumber: string
  logs: { address: string; topics: string[]; data: string }[]
}
/** `sent`: the message as the chain has it. */
type Burn = { nonce: string; sent: string; blocks: number }

export type Attester = ReturnType<typeof createAttester>

/**
 * Attests burns of the devnet under Circle's rules. What it has attested it remembers until it
 * ends; after that it attests the same burn again, under the same nonce.
 */
export function createAttester(options: Options) {
  const { chains, key, faults } = options
  const firstAsked = new Map<string, number>()
  const attested = new Map<string, Attested>()
  const toFinalize = new Set<string>()
  const findChain = (domain: number) => chains.find((one) => one.domain === domain)

  /** The burns of a transaction, in their order; none while it is not mined. */
  async function findBurns(domain: number, txHash: string): Promise<SeenBurn[]> {
    const chain = findChain(domain)
    if (!chain || faults.notFound) return []
    const burns = await readBurns(chain, txHash)
    if (!firstAsked.has(txHash)) firstAsked.set(txHash, Date.now())
    const ageMs = Date.now() - (firstAsked.get(txHash) ?? 0)
    return Promise.all(burns.map((burn) => attest(burn, ageMs)))
  }

  async function attest(burn: Burn, ageMs: number): Promise<SeenBurn> {
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
    // What contracts there see: on Arbitrum that is not the number of the chain's own block.
    const call = { to: MULTICALL_ADDRESS, data: getBlockNumber }
    const seen = BigInt(await callRpc<string>(chain.rpcUrl, 'eth_call', [call, 'latest']))
    return faults.expire ? seen : seen + BigInt(options.fastLifeBlocks)
  }

  /** Has a fast attestation made again, as a final one. One that is final already stays. */
  function finalize(nonce: string): 'accepted' | 'final' | 'unknown' {
    const executed = attested.get(nonce)?.decoded.finalityThresholdExecuted
    if (executed === undefined) return 'unknown'
    if (executed === finality.final) return 'final'
    toFinalize.add(nonce)
    return 'accepted'
  }

  return { findBurns, finalize, domains: chains.map(({ domain }) => domain) }
}

/** The burns of a transaction, none when it is not mined or has failed. */
async function readBurns({ rpcUrl, transmitter }: BurnChain, txHash: string): Promise<Burn[]> {
  const [receipt, head] = await Promise.all([
    callRpc<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', [txHash]),
    callRpc<string>(rpcUrl, 'eth_blockNumber'),
  ])
  const isMessage = ({ address, topics }: Receipt['logs'][number]) =>
    topics[0] === messageSent && address.toLowerCase() === transmitter.toLowerCase()
  return (receipt?.logs ?? []).filter(isMessage).map(({ data }, index) => ({
    // Made of what neither a restart of the service nor another block changes.
    nonce: keccak256(concat([txHash, toBeHex(index, 32)])),
    sent: AbiCoder.defaultAbiCoder().decode(['bytes'], data)[0] as string,
    blocks: Number(head) - Number(receipt?.blockNumber) + 1,
  }))
}

/**
 * Whether a burn is a fast transfer, and what it costs. One that pays too little for it, or is too large,
 * becomes a slow one.
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

/** The finality of a burn as far as the faults let it be seen, 0 for none. */
function reachedFinality(
  { blocks }: Burn,
  ageMs: number,
  { confirmations, faults }: Pick<Options, 'confirmations' | 'faults'>,
): number {
  if (faults.stuck || ageMs < faults.delayMs) return 0
  if (blocks >= confirmations.standard) return finality.final
  return blocks >= confirmations.fast ? finality.confirmed : 0
}

type Verdict = { executed: number; fee: bigint; expirationBlock: bigint }

function sign(key: AttesterKey, { nonce, sent }: Burn, verdict: Verdict): Attested {
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
