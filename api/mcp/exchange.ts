import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
  type CallToolResult,
} from '@modelcontextprotocol/server'
import type { Tool } from './tools.js'

/** Tools and call of one message. */
type Offer = {
  /** Tools that the caller's key may use. */
  tools: Tool[]
  /** Runs the tool call of the message. Undefined for an unknown tool or another message. */
  call: (() => Promise<CallToolResult>) | undefined
}

const INSTRUCTIONS = `Wallets of end users on several chains, lending rates, and intents: lend, withdraw, bridge.
Money moves only by create_intent, and only as preview_intent has shown it: preview first, show steps, costs and
warnings to the person whose money it is, ask, then create with the previewId and the same parameters within five
minutes. If the answer to create_intent is lost, call it again with the same previewId: it is done once. Then read
get_intent every 5 to 10 seconds until its status is completed or failed, and explain_failure if it failed.
Amounts are in whole tokens. Errors have a code in \`error\` and the remedy in \`message\`.`

/** Responds to one message. The server keeps no state between messages. */
export async function answerMessage(
  offer: Offer,
  request: Request,
  message: unknown,
): Promise<Response> {
  const server = createServer(offer)
  if (!(await isLegacyRequest(request, message))) {
    const options = { legacy: 'reject', maxSubscriptions: 0 } as const
    return createMcpHandler(() => server, options).fetch(request, { parsedBody: message })
  }
  // Clients of earlier revisions of the protocol. JSON in one piece, so that the headers contain the final charge.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  return transport.handleRequest(request, { parsedBody: message }).finally(() => server.close())
}

function createServer({ tools, call }: Offer): Server {
  const about = { name: 'steward', title: 'Steward', version: '1' }
  const server = new Server(about, { capabilities: { tools: {} }, instructions: INSTRUCTIONS })
  server.setRequestHandler('tools/list', () => ({ tools: tools.map(describe) }))
  server.setRequestHandler('tools/call', ({ params }) => {
    if (call) return call()
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`)
  })
  return server
}

const describe = ({ name, title, description, inputSchema, readOnly }: Tool) => ({
  ...{ name, title, description, inputSchema },
  annotations: {
    readOnlyHint: readOnly,
    destructiveHint: !readOnly,
    idempotentHint: true,
    openWorldHint: !readOnly,
  },
})
