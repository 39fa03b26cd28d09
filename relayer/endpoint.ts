import type { ChainClient } from '../evm/connect.js'
import type { DriverTools } from './relayerTools.js'

/**
 * The endpoint to index from. A round reads from one endpoint only, because answers of several may not fit together.
 * The endpoint stays the same until it fails or is out of step with the others.
 */
export function followEndpoint({ client, following }: DriverTools): ChainClient {
  const { endpoint, hasFailed } = following
  const candidates = client.inStep()
  if (endpoint && !hasFailed && candidates.includes(endpoint)) return endpoint
  const next = candidates.find((one) => one !== endpoint) ?? endpoint ?? client
  Object.assign(following, { endpoint: next, hasFailed: false })
  return next
}

/** The endpoint of the last round, for reads outside of it. */
export const followedEndpoint = (tools: DriverTools): ChainClient =>
  tools.following.endpoint ?? followEndpoint(tools)
