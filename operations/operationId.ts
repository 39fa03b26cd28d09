import { dataSlice, id } from 'ethers'
import type { OperationKind } from '../domain/intent/operation.js'

/** The id of an operation. It depends only on the effect, so that a recreated row has the same id. */
export const operationId = (intentId: string, sequence: number, kind: OperationKind) =>
  id(`${intentId}/${sequence}/${kind}`)

/**
 * The on-chain key of an operation: the EIP-3009 nonce of a funding, or the 2D nonce key of a user operation, which is
 * the low 192 bits of the id.
 */
export const chainKeyOf = (kind: Exclude<OperationKind, 'mint'>, operation: string) =>
  kind === 'fund' ? operation : dataSlice(operation, 8)
