import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { concat, dataSlice, hexlify, randomBytes, toBeHex } from 'ethers'
import { cctpFields } from '../../../evm/bridges/cctp/message.js'

const [expirationAt] = cctpFields.expirationBlock

type ServiceMessage = { eventNonce: string; message: string; attestation: string; status: string }
/** `silent`: no answer until the test changes it. `broken`: HTTP 503. `blocked`: HTTP 429. */
type Mood = 'fine' | 'silent' | 'broken' | 'blocked'
const statuses = { fine: 200, broken: 503, blocked: 429 }
/** After a 429, seconds. */
export const RETRY_AFTER = 2

type Fee = { finalityThreshold: number; minimumFee: number }

/** An attestation service that the test controls. */
export async function startAttestationService() {
  const known = new Map<string, ServiceMessage[]>()
  const moods = new Map<string, Mood>()
  const requests: string[] = []
  const held = new Set<ServerResponse>()
  /** Requests about transactions. */
  const waiting = new Set<ServerResponse>()
  let most = 0
  let mood: Mood = 'fine'
  let fees: Fee[] = []

  const server = createServer(({ method, url = '/' }, response) => {
    requests.push(`${method} ${url}`)
    const hash = new URL(url, 'http://service').searchParams.get('transactionHash') ?? ''
    const now = moods.get(hash) ?? mood
    const messages = known.get(hash) ?? []
    if (now === 'silent') {
      held.add(response)
      if (hash) waiting.add(response)
      response.on('close', () => {
        held.delete(response)
        waiting.delete(response)
      })
      most = Math.max(most, waiting.size)
      return
    }
    const limits = now === 'blocked' ? { 'retry-after': String(RETRY_AFTER) } : {}
    response.writeHead(statuses[now], { 'content-type': 'application/json', ...limits })
    response.end(JSON.stringify(url.includes('/fees/') ? fees : { messages }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Method and path of all requests. */
    requests,
    requestsAbout: (hash: string) => requests.filter((request) => request.includes(hash)).length,
    attestationRequests: () => requests.filter((request) => request.includes('/messages/')),
    feeRequests: () => requests.filter((request) => request.includes('/fees/')),
    setFees: (next: Fee[]) => (fees = next),
    /** Highest number of concurrent unanswered requests about transactions. */
    mostHeld: () => most,

    /** Attests a message that was sent in a transaction, in addition to others there; returns its nonce. */
    attest(
      hash: string,
      sent: string,
      { nonce = hexlify(randomBytes(32)), expiresAt = 0n, attestation = '0x01' } = {},
    ) {
      const parts = [dataSlice(sent, 0, 12), nonce, dataSlice(sent, 44, expirationAt)]
      const message = concat([...parts, toBeHex(expiresAt, 32), dataSlice(sent, expirationAt + 32)])
      const attested = { eventNonce: nonce, message, attestation, status: 'complete' }
      const others = (known.get(hash) ?? []).filter(({ eventNonce }) => eventNonce !== nonce)
      known.set(hash, [...others, attested])
      return nonce
    },
    /** Sets the answers from now on, for one transaction if given. */
    turn(next: Mood, hash?: string): void {
      if (hash) moods.set(hash, next)
      else mood = next
      for (const response of held) response.destroy()
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
