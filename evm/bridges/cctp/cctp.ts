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

/** @see https://developers.circle.com/cctp: 10 million USDC per burn */
const MAX_BURN_UNITS = 10_000_000_000_000n

/** Circle's USDC bridge, CCTP version 2. */
export const cctp: Bridge = {
  protocol: 'cctp',
  maxUnits: MAX_BURN_UNITS,
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
