import type { ChainClient } from '../chains/connect.js'
import type { DriverTools } from './driverTools.js'

/**
 * The endpoint that a round of booking reads from, alone: answers of several do not belong together. It stays the
 * same until it fails or is out of step with the others.
 */
export function followEndpoint({ client, following }: DriverTools): ChainClient {
  const { endpoint, hasFailed } = following
  const candidates = client.inStep()
  if (endpoint && !hasFailed && candidates.includes(endpoint)) return endpoint
  const next = candidates.find((one) => one !== endpoint) ?? endpoint ?? client
  Object.assign(following, { endpoint: next, hasFailed: false })
  return next
}

/** The endpoint of the last round, for questions beside it. */
export const followedEndpoint = (tools: DriverTools): ChainClient =>
  tools.following.endpoint ?? followEndpoint(tools)
