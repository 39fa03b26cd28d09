import { Interface } from 'ethers'
import type { Call } from '../../domain/intent/operation.js'

const erc20 = new Interface(['function approve(address spender, uint256 amount)'])

/** The call that lets `spender` transfer up to `units` base units of a token. */
export const encodeApprove = (token: string, spender: string, units: bigint): Call => ({
  to: token,
  data: erc20.encodeFunctionData('approve', [spender, units]),
})
