import { connectTemporal } from '../../../workflows/client/connect.js'
import { getShared } from '../fixtures.js'
// Reduces the log of the SDK.
import './runtime.js'

/** A client of the run's Temporal server, in a namespace of its own. The caller closes its connection. */
export async function joinTemporal() {
  const { address, port, namespace } = await getShared('temporal')
  return { address, port, namespace, client: connectTemporal(address, namespace) }
}
