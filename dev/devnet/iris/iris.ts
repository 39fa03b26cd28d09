import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import {
  FAST_LIFE_BLOCKS,
  createAttester,
  finality,
  type Attester,
  type BurnChain,
  type Confirmations,
  type Faults,
  type SeenBurn,
} from './attestation.js'
import { deriveAttesterKey } from '../contracts/cctp.js'
import { circleLimit, createLimiter, type Limit } from './limit.js'

/** Fast transfers need one or two blocks. Final ones need about the devnet's finality depth. */
const usualConfirmations: Confirmations = { fast: 2, standard: 15 }
const USUAL_FEE_BPS = 1

/** Limits of fast transfers without faults, in USDC: of one transfer as much as one burn may move, and of all. */
const FAST_MAXIMUM = 10_000_000
const FAST_ALLOWANCE = 10_000_000

const faultsBody = z.strictObject({
  delayMs: z.number().int().min(0),
  stuck: z.boolean(),
  notFound: z.boolean(),
  expire: z.boolean(),
  outage: z.boolean(),
  fastMaximum: z.number().min(0),
  fastAllowance: z.number().min(0),
})

type IrisOptions = {
  chains: BurnChain[]
  /** Any free port when 0. */
  port: number
  host?: string
  confirmations?: Confirmations
  fastFeeBps?: number
  fastLifeBlocks?: number
  /** Circle's limit when absent. */
  limit?: Limit
}
/** `blocks`: how often the rate limit was exceeded, which blocks all callers for a while. */
export type Iris = { url: string; blocks(): number; stop(): Promise<void> }

type IrisResponse = { status: number; body: unknown }
const refusal = (status: number, error: string): IrisResponse => ({
  status,
  body: { code: status, error },
})
const notFound = refusal(404, 'Not found')

/**
 * Stand-in for Circle's attestation service, Iris, for the chains of the devnet. It implements Circle's protocol and
 * rate limit: after too many requests it responds with 429 to every caller. `POST /dev/faults` with a part of
 * `Faults` injects faults and does not count.
 *
 * @see https://developers.circle.com/api-reference/cctp/all/get-messages-v2
 */
export async function startIris(options: IrisOptions): Promise<Iris> {
  const { chains, port, host = '127.0.0.1', fastFeeBps = USUAL_FEE_BPS } = options
  const confirmations = options.confirmations ?? usualConfirmations
  const faults: Faults = {
    delayMs: 0,
    stuck: false,
    notFound: false,
    expire: false,
    outage: false,
    fastMaximum: FAST_MAXIMUM,
    fastAllowance: FAST_ALLOWANCE,
  }
  const limiter = createLimiter(options.limit ?? circleLimit)
  const key = deriveAttesterKey()
  const { fastLifeBlocks = FAST_LIFE_BLOCKS } = options
  const attester = createAttester({
    ...{ chains, key, confirmations, fastFeeBps, fastLifeBlocks, faults },
  })
  const server = createServer((request, response) => {
    void answer({ attester, faults, fastFeeBps, limiter }, request)
      .catch((error: Error) => refusal(500, error.message))
      .then((reply) => send(response, reply))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    blocks: limiter.blocks,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type IrisService = {
  attester: Attester
  faults: Faults
  fastFeeBps: number
  limiter: ReturnType<typeof createLimiter>
}

async function answer(service: IrisService, request: IncomingMessage): Promise<IrisResponse> {
  const { attester, faults, fastFeeBps, limiter } = service
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://iris')
  const route = `${request.method} ${pathname}`
  if (route === 'POST /dev/faults') return setFaults(faults, request)
  if (!limiter.admit()) return refusal(429, 'Too many requests')
  if (faults.outage) return refusal(503, 'Service unavailable')
  const messages = /^GET \/v2\/messages\/(\d+)$/.exec(route)
  if (messages) {
    return answerMessages(attester, Number(messages[1]), searchParams.get('transactionHash'))
  }
  const fees = /^GET \/v2\/burn\/USDC\/fees\/(\d+)\/(\d+)$/.exec(route)
  if (fees) return answerFees(attester, [Number(fees[1]), Number(fees[2])], fastFeeBps)
  const again = /^POST \/v2\/reattest\/(0x[0-9a-f]{64})$/i.exec(route)
  if (again) return answerReattest(attester, again[1] ?? '')
  if (route !== 'GET /v2/fastBurn/USDC/allowance') return notFound
  const lastUpdated = new Date().toISOString()
  return { status: 200, body: { allowance: faults.fastAllowance, lastUpdated } }
}

async function answerMessages(
  attester: Attester,
  domain: number,
  txHash: string | null,
): Promise<IrisResponse> {
  if (!txHash || !/^0x[0-9a-f]{64}$/i.test(txHash)) {
    return refusal(400, 'transactionHash is required')
  }
  const burns = await attester.findBurns(domain, txHash.toLowerCase())
  if (burns.length > 0) return { status: 200, body: { messages: burns.map(describeBurn) } }
  return refusal(404, 'Message hash not found')
}

/** Circle's format of a burn: a pending one has no message, and message fields are text or null. */
function describeBurn({ nonce, attested, delayReason }: SeenBurn) {
  const common = { eventNonce: nonce, cctpVersion: 2, delayReason }
  if (!attested) {
    const pending = { message: '0x', attestation: 'PENDING', decodedMessage: null }
    return { ...pending, ...common, status: 'pending_confirmations' }
  }
  const { message, attestation, decoded } = attested
  const { burnToken, mintRecipient, amount, messageSender, ...rest } = decoded
  const { maxFee, feeExecuted, expirationBlock, hookData, ...head } = rest
  const transfer = { burnToken, mintRecipient, amount, messageSender }
  const decodedMessageBody = {
    ...asText({ ...transfer, maxFee, feeExecuted, expirationBlock }),
    hookData: hookData === '0x' ? null : hookData,
  }
  const decodedMessage = { ...asText(head), decodedMessageBody }
  return { message, attestation, decodedMessage, ...common, status: 'complete' }
}

const asText = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

function answerFees(attester: Attester, domains: number[], fastFeeBps: number): IrisResponse {
  if (!domains.every((domain) => attester.domains.includes(domain))) return notFound
  const body = [
    { finalityThreshold: finality.confirmed, minimumFee: fastFeeBps },
    { finalityThreshold: finality.final, minimumFee: 0 },
  ]
  return { status: 200, body }
}

function answerReattest(attester: Attester, nonce: string): IrisResponse {
  const verdict = attester.finalize(nonce.toLowerCase())
  if (verdict === 'unknown') return notFound
  if (verdict === 'final') return refusal(400, 'Message is already finalized')
  const message = 'Re-attestation successfully requested for nonce.'
  return { status: 200, body: { message, nonce } }
}

async function setFaults(faults: Faults, request: IncomingMessage): Promise<IrisResponse> {
  const parsed = faultsBody.partial().safeParse(await json(request).catch(() => undefined))
  if (!parsed.success) return refusal(400, parsed.error.message)
  return { status: 200, body: Object.assign(faults, parsed.data) }
}

function send(response: ServerResponse, { status, body }: IrisResponse): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
