import { Agent, createServer, request as ask, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { chainFacts, chainNames, pricing, type ChainName } from '../../evm/registry.js'
import { startAnvil } from '../../dev/devnet/anvil.js'
import { devnetTerms } from '../../dev/devnet/chains.js'
import { startFront } from '../../dev/devnet/rollup/front.js'

/** Traffic through a meter so far. A request may hold many calls. */
export type Passed = { requests: number; calls: number; bytes: number }

export type MeteredNode = {
  name: ChainName
  pid: number
  /** Bypasses the meter. */
  url: string
  meteredUrl: string
  passed: Passed
}

/** The chains of the devnet, as in `npm start`, each behind a meter. */
export async function startMeteredNodes() {
  const stops: (() => Promise<void>)[] = []
  const start = async (name: ChainName): Promise<MeteredNode> => {
    const { blockSeconds: blockTimeSeconds, baseFeeWei } = devnetTerms[name]
    const { chainId } = chainFacts[name]
    const node = await startAnvil({ chainId, blockTimeSeconds, baseFeeWei, mining: 'tended' })
    stops.push(node.stop)
    const { rollup: kind } = pricing[name]
    const front = kind && (await startFront({ kind, target: node.url }))
    if (front) stops.push(front.stop)
    const { url } = front ?? node
    const meter = await startMeter(url)
    stops.push(meter.stop)
    return { name, pid: node.pid, url, meteredUrl: meter.url, passed: meter.passed }
  }
  const list = await Promise.all(chainNames.map(start))
  return {
    list,
    async stop() {
      for (const stop of stops.reverse()) await stop()
    },
  }
}

/** Longer than the idle time of any client, so that no client reuses a closing connection. */
const KEEP_ALIVE_MS = 600_000

/** Forwards requests to a node byte by byte and counts them. */
async function startMeter(target: string) {
  const agent = new Agent({ keepAlive: true })
  const passed: Passed = { requests: 0, calls: 0, bytes: 0 }
  const passOn = (body: Buffer, response: ServerResponse) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const onward = ask(target, { method: 'POST', agent, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('data', (chunk: Buffer) => (passed.bytes += chunk.length))
      answer.on('error', () => response.destroy())
      answer.pipe(response)
    })
    onward.on('error', () => {
      if (onward.reusedSocket) passOn(body, response)
      else response.destroy()
    })
    onward.end(body)
  }
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const pass = async () => {
      const body = await buffer(request)
      passed.requests++
      passed.calls += body.toString().match(/"method":/g)?.length ?? 0
      passed.bytes += body.length
      passOn(body, response)
    }
    pass().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    stop() {
      agent.destroy()
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
