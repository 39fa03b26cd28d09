import { connectTemporal } from '../../../workflows/client/connect.js'
import { getShared } from '../fixtures.js'
// The SDK says little then.
import './runtime.js'

/** A client of the run's Temporal server, in a namespace that nobody else has. Its user closes its connection. */
export async function joinTemporal() {
  const { address, port, namespace } = await getShared('temporal')
  return { address, port, namespace, client: connectTemporal(address, namespace) }
}
