import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type TcpProxy = {
  port: number
  /**
   * `open` forwards everything. `closed` cuts all connections and accepts none. `frozen` forwards nothing. `deaf`
   * forwards the client's data, and no response.
   */
  set(mode: 'open' | 'closed' | 'frozen' | 'deaf'): void
  /** Existing connections forward nothing any more. New ones are accepted. */
  freezeOpen(): void
  stop(): Promise<void>
}

/** A proxy between a client and a server, to simulate the server's failure. Without a target it forwards nothing. */
export async function startTcpProxy(target?: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<{ client: Socket; server: Socket | undefined; isFrozen: boolean }>()
  let mode: string = target ? 'open' : 'frozen'

  const listener = createServer((client) => {
    if (mode === 'closed') return void client.destroy()
    const server = target && connect(target)
    const pair = { client, server, isFrozen: false }
    pairs.add(pair)
    const end = () => {
      // The end of the other side is not forwarded either.
      if (pair.isFrozen) return
      pairs.delete(pair)
      client.destroy()
      server?.destroy()
    }
    for (const socket of [client, server]) socket?.on('error', end).on('close', end)
    const passes = () => mode === 'open' && !pair.isFrozen
    client.on('data', (chunk) => (passes() || mode === 'deaf') && server?.write(chunk))
    server?.on('data', (chunk) => passes() && client.write(chunk))
  })
  listener.listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  const cut = () => {
    for (const { client, server } of pairs) {
      client.destroy()
      server?.destroy()
    }
  }
  return {
    port: (listener.address() as AddressInfo).port,
    set(next) {
      mode = next
      if (next === 'closed') cut()
    },
    freezeOpen() {
      for (const pair of pairs) pair.isFrozen = true
    },
    stop() {
      cut()
      return new Promise((resolve) => listener.close(() => resolve()))
    },
  }
}
