import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

type ToolBody = Record<string, unknown>

/** What a tool has answered, and the headers of the request in which it did. */
export type ToolResult = { body: ToolBody; isError: boolean; headers: Headers }

/** The official client of the protocol, for one API key. */
export async function connectClient(url: string, key: string, mode: 'auto' | 'legacy' = 'auto') {
  let headers = new Headers()
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    async fetch(input, init) {
      const response = await fetch(input, init)
      headers = response.headers
      return response
    },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  return {
    client,
    headers: () => headers,
    async call(name: string, args: ToolBody = {}): Promise<ToolResult> {
      const result = await client.callTool({ name, arguments: args })
      const body = result.structuredContent as ToolBody
      return { body, isError: result.isError === true, headers }
    },
  }
}
export type McpClient = Awaited<ReturnType<typeof connectClient>>
