import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import {
  createAttester,
  finality,
  type Attester,
  type BurnChain,
  type Confirmations,
  type Faults,
  type SeenBurn,
} from './attestation.js'
import { deriveAttesterKey } from '../cctp.js'

/** A block or two: what a fast transfer trusts. And about what the devnet calls final. */
const usualConfirmations: Confirmations = { fast: 2, standard: 15 }
const USUAL_FEE_BPS = 1

/** USDC that may be on its way by fast transfers; the devnet has no limit. */
const ALLOWANCE_USDC = 1_000_000

const faultsBody = z.strictObject({
  delayMs: z.number().int().min(0),
  stuck: z.boolean(),
  notFound: z.boolean(),
  expire: z.boolean(),
  outage: z.boolean(),
})

type Options = {
  chains: BurnChain[]
  /** Any free one when 0. */
  port: number
  host?: string
  confirmations?: Confirmations
  fastFeeBps?: number
}
export type Iris = { url: string; stop(): Promise<void> }

type Answer = { status: number; body: unknown }
const notFound: Answer = { status: 404, body: { code: 404, error: 'Not found' } }

/**
 * Stand-in for Circle's attestation service, called Iris, for the chains of the devnet. It speaks
 * Circle's protocol, and `POST /dev/faults` with a part of `Faults` makes it misbehave.
 *
 * @see https://developers.circle.com/api-reference/cctp/all/get-messages-v2
 */
export async function startIris(options: Options): Promise<Iris> {
  const { chains, port, host = '127.0.0.1', fastFeeBps = USUAL_FEE_BPS } = options
  const confirmations = options.confirmations ?? usualConfirmations
  const faults: Faults = {
    delayMs: 0,
    stuck: false,
    notFound: false,
    expire: false,
    outage: false,
  }
  const key = deriveAttesterKey()
  const attester = createAttester({ chains, key, confirmations, fastFeeBps, faults })
  const server = createServer((request, response) => {
    void answer({ attester, faults, fastFeeBps }, request)
      .catch((error: Error) => ({ status: 500, body: { code: 500, error: error.message } }))
      .then((reply) => send(response, reply))
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Service = { attester: Attester; faults: Faults; fastFeeBps: number }

async function answer(service: Service, request: IncomingMessage): Promise<Answer> {
  const { attester, faults, fastFeeBps } = service
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://iris')
  const route = `${request.method} ${pathname}`
  if (route === 'POST /dev/faults') return setFaults(faults, request)
  if (faults.outage) return { status: 503, body: { code: 503, error: 'Service unavailable' } }
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
  return { status: 200, body: { allowance: ALLOWANCE_USDC, lastUpdated } }
}

async function answerMessages(
  attester: Attester,
  domain: number,
  txHash: string | null,
): Promise<Answer> {
  if (!txHash || !/^0x[0-9a-f]{64}$/i.test(txHash)) {
    return { status: 400, body: { code: 400, error: 'transactionHash is required' } }
  }
  const burns = await attester.findBurns(domain, txHash.toLowerCase())
  if (burns.length > 0) return { status: 200, body: { messages: burns.map(describeBurn) } }
  return { status: 404, body: { code: 404, error: 'Message hash not found' } }
}

/** As Circle describes a burn: a pending one has no message, and what a message says is text. */
function describeBurn({ nonce, attested, delayReason }: SeenBurn) {
  const common = { eventNonce: nonce, cctpVersion: 2, delayReason }
  if (!attested) {
    const pending = { message: null, attestation: 'PENDING', decodedMessage: null }
    return { ...pending, ...common, status: 'pending_confirmations' }
  }
  const { message, attestation, decoded } = attested
  const { burnToken, mintRecipient, amount, messageSender, ...rest } = decoded
  const { maxFee, feeExecuted, expirationBlock, hookData, ...head } = rest
  const transfer = { burnToken, mintRecipient, amount, messageSender }
  const decodedMessageBody = asText({ ...transfer, maxFee, feeExecuted, expirationBlock, hookData })
  const decodedMessage = { ...asText(head), decodedMessageBody }
  return { message, attestation, decodedMessage, ...common, status: 'complete' }
}

const asText = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))

function answerFees(attester: Attester, domains: number[], fastFeeBps: number): Answer {
  if (!domains.every((domain) => attester.domains.includes(domain))) return notFound
  const body = [
    { finalityThreshold: finality.confirmed, minimumFee: fastFeeBps },
    { finalityThreshold: finality.final, minimumFee: 0 },
  ]
  return { status: 200, body }
}

function answerReattest(attester: Attester, nonce: string): Answer {
  if (!attester.finalize(nonce.toLowerCase())) return notFound
  const message = 'Re-attestation successfully requested for nonce.'
  return { status: 200, body: { message, nonce } }
}

async function setFaults(faults: Faults, request: IncomingMessage): Promise<Answer> {
  const parsed = faultsBody.partial().safeParse(await json(request).catch(() => undefined))
  if (!parsed.success) return { status: 400, body: { code: 400, error: parsed.error.message } }
  return { status: 200, body: Object.assign(faults, parsed.data) }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
