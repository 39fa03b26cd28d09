import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type LossyProxy = {
  port: number
  /** Drops the next `count` responses to requests with this start, after the API has processed them. */
  loseAnswers(startOfRequest: string, count: number): void
  /** Calls back once, after `count` refused connections. */
  afterRefusals(count: number, callback: () => void): void
  /** The number of lost responses. */
  lost(): number
  stop(): Promise<void>
}

/**
 * Proxies the API and closes connections instead of passing a response. `target.port` may change; new connections use
 * the new port.
 */
export async function startLossyProxy(target: { port: number }): Promise<LossyProxy> {
  const sockets = new Set<Socket>()
  let loss = { start: '', count: 0 }
  let lost = 0
  let refusal = { left: 0, callback: () => undefined as void }
  const countRefusal = () => {
    refusal.left -= 1
    if (refusal.left === 0) refusal.callback()
  }

  const listener = createServer((client) => {
    const server = connect({ host: '127.0.0.1', port: target.port })
    let isDoomed = false
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') countRefusal()
    })
    const end = () => {
      for (const socket of [client, server]) {
        sockets.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of [client, server]) {
      sockets.add(socket.on('error', end).on('close', end))
    }
    client.on('data', (chunk: Buffer) => {
      isDoomed ||= loss.count > 0 && chunk.toString('latin1').startsWith(loss.start)
      server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (!isDoomed) return void client.write(chunk)
      loss = { ...loss, count: loss.count - 1 }
      lost += 1
      end()
    })
  })
  listener.listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    loseAnswers(start, count) {
      loss = { start, count }
    },
    afterRefusals(left, callback) {
      refusal = { left, callback }
    },
    lost: () => lost,
    stop() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => listener.close(() => resolve()))
    },
  }
}
