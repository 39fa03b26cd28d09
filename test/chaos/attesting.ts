import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AddressInfo } from 'node:net'
import type { Draws } from './draws.js'

type AttestationFault = 'pass' | 'error' | 'limit' | 'reset' | 'late' | 'unheard'

/** Fate of a request for an attestation, by weight. */
const weights: [AttestationFault, number][] = [
  ['pass', 80],
  ['error', 6],
  ['limit', 2],
  ['reset', 5],
  ['late', 5],
  ['unheard', 2],
]
const LATE_MS = 1_500

export type AttestationProxy = {
  url: string
  /** Without draws all requests pass. */
  set(draws: Draws | undefined): void
  counts: Record<string, number>
  stop(): Promise<void>
}

/** A proxy before the attestation service that injects the faults of a busy public service. */
export async function startAttestationProxy(target: string): Promise<AttestationProxy> {
  let draws: Draws | undefined
  const counts: Record<string, number> = {}
  const server = createServer((request, response) => {
    const pass = async () => {
      const fault = draws?.pick(weights) ?? 'pass'
      if (fault !== 'pass') counts[fault] = (counts[fault] ?? 0) + 1
      if (fault === 'reset') return void request.socket.destroy()
      if (fault === 'error') return void response.writeHead(502).end('down')
      if (fault === 'limit') return void response.writeHead(429, { 'retry-after': '2' }).end('{}')
      if (fault === 'late') await sleep(LATE_MS)
      const { method = 'GET' } = request
      const answer = await fetch(new URL(request.url ?? '/', target), { method })
      const text = await answer.text()
      if (fault === 'unheard') return void request.socket.destroy()
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    }
    pass().catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    set: (next) => (draws = next),
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
