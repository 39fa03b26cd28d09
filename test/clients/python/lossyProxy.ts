import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type LossyProxy = {
  port: number
  /** The next answers to such a request are lost after the API has given them. */
  loseAnswers(startOfRequest: string, count: number): void
  /** Calls back once when so many connections could not be made. */
  afterRefusals(count: number, callback: () => void): void
  /** How many were lost so far. */
  lost(): number
  stop(): Promise<void>
}

/**
 * Stands between a client and the API, and cuts connections when an answer comes. `target.port` may change: who
 * connects later gets the new one.
 */
export async function startLossyProxy(target: { port: number }): Promise<LossyProxy> {
  const sockets = new Set<Socket>()
  let wish = { start: '', count: 0 }
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
      isDoomed ||= wish.count > 0 && chunk.toString('latin1').startsWith(wish.start)
      server.write(chunk)
    })
    server.on('data', (chunk) => {
      if (!isDoomed) return void client.write(chunk)
      wish = { ...wish, count: wish.count - 1 }
      lost += 1
      end()
    })
  })
  listener.listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    loseAnswers(start, count) {
      wish = { start, count }
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
