import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** What a test in another language may have done here: it is sent what it names, and gets the result as JSON. */
export type Deeds = Record<string, (wish: Record<string, unknown>) => Promise<unknown>>

export type Control = { url: string; stop(): Promise<void> }

/** Takes orders of a test that runs in a process of its own: `POST /<deed>` with a JSON object. */
export async function startControl(deeds: Deeds): Promise<Control> {
  const server = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      const deed = deeds[request.url?.slice(1) ?? '']
      if (!deed) throw new Error(`There is no deed ${request.url}.`)
      return deed(JSON.parse(body || '{}') as Record<string, unknown>)
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
