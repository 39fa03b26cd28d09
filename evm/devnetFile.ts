import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ServiceError } from '../domain/errors.js'
import { chainNames } from './facts.js'

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)

/** Contract addresses of one devnet chain. A missing contract is absent. */
const devnetContracts = z.object({
  usdc: address,
  ethUsdFeed: address,
  usdcUsdFeed: address.optional(),
  tokenMessenger: address,
  messageTransmitter: address,
  aavePool: address,
  /** The USD token that Aave lists: USDC, or the test dollar. */
  aaveAsset: address,
  aToken: address,
  testDollar: address.optional(),
  comet: address.optional(),
  vault: address.optional(),
  uniswap: z.object({ factory: address, quoter: address, router: address }).optional(),
})
export type DevnetContracts = z.infer<typeof devnetContracts>

const devnetFile = z.record(z.enum(chainNames), devnetContracts)
export type ContractsByChain = z.infer<typeof devnetFile>

/**
 * Reads the contract addresses of the devnet.
 *
 * @throws {ServiceError} MISCONFIGURED when the file is missing or incomplete.
 */
export function readDevnetFile(file: string): ContractsByChain {
  try {
    return devnetFile.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    const message = `${file} does not have the addresses of the devnet. Restart the stack, which writes them: npm start`
    throw new ServiceError('MISCONFIGURED', message, {}, { cause })
  }
}
