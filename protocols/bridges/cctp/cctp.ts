import {
  burnBounds,
  encodeBurn,
  encodeMint,
  isMinted,
  mintLogs,
  mintedUnits,
  readBurn,
  readMint,
} from './contracts.js'
import { isSameMessage, leadsTo, readMessage } from './message.js'
import type { Bridge } from '../bridge.js'

/** Circle's bridge of USDC, version 2. */
export const cctp: Bridge = {
  domainOf: (chain) => chain.cctp.domain,
  usualSeconds: (source, speed) => source.cctp.seconds[speed],
  encodeBurn,
  burnBounds,
  readBurn,
  readMessage,
  isSameMessage,
  leadsTo,
  encodeMint,
  isMinted,
  mintLogs,
  readMint,
  mintedUnits,
}
