import { Interface } from 'ethers'
import { callEncoder, word } from '../chains/abi.js'
import type { Call } from '../domain/operation.js'

const approve = callEncoder(
  new Interface(['function approve(address spender, uint256 amount)']),
  'approve',
)

/** The call that lets `spender` take `units` base units of a token, no more. */
export const encodeApprove = (token: string, spender: string, units: bigint): Call => ({
  to: token,
  data: approve([word(spender), word(units)]),
})
