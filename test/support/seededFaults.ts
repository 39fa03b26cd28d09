import { refusesWideRanges, type Decide, type RpcFault } from './faultProxy.js'
import type { Draws } from '../chaos/draws.js'

/** Probabilities of faults per request and per call. `widest`: maximum block range of log queries. */
export type FaultRates = {
  perRequest: [RpcFault, number][]
  perCall: [RpcFault, number][]
  lostReply: number
  widest: number
}

/** The faults of one endpoint. The same draws give the same faults. */
export function seededFaults(draws: Draws, rates: FaultRates): Decide {
  const { perRequest, perCall, lostReply, widest } = rates
  const tooWide: RpcFault = { error: { code: -32005, message: 'query exceeds range' } }
  const refuseWide = refusesWideRanges(widest, tooWide)
  const drawFrom = (chances: [RpcFault, number][]): RpcFault | undefined => {
    let x = draws.next()
    return chances.find(([, rate]) => (x -= rate) < 0)?.[0]
  }
  return (call, index) => {
    const refused = refuseWide(call)
    if (refused) return refused
    if (call.method === 'eth_sendRawTransaction' && draws.next() < lostReply) return 'lostReply'
    return (index === 0 ? drawFrom(perRequest) : undefined) ?? drawFrom(perCall)
  }
}
