import { dataSlice, id } from 'ethers'
import type { OperationKind } from '../domain/operation.js'

/** The id of an operation: the same effect of the same step has the same id, whoever writes the row. */
export const operationId = (intentId: string, sequence: number, kind: OperationKind) =>
  id(`${intentId}/${sequence}/${kind}`)

/**
 * The key of an operation on the chain: the EIP-3009 nonce of a funding, else the 2D nonce key of a user
 * operation, which is the low 192 bits of the id.
 */
export const chainKeyOf = (kind: Exclude<OperationKind, 'mint'>, operation: string) =>
  kind === 'fund' ? operation : dataSlice(operation, 8)
