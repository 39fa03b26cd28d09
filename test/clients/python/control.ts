import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** Commands for tests in another language. The result is returned as JSON. */
export type ControlCommands = Record<string, (options: Record<string, unknown>) => Promise<unknown>>

export type Control = { url: string; stop(): Promise<void> }

/** Runs commands for a test in another process: `POST /<command>` with a JSON object. */
export async function startControl(commands: ControlCommands): Promise<Control> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const command = commands[request.url?.slice(1) ?? '']
      if (!command) throw new Error(`Command ${request.url} does not exist.`)
      return command(JSON.parse(body || '{}') as Record<string, unknown>)
    })().then(
      (result) => response.end(JSON.stringify(result ?? null)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
