import { AbiCoder, Interface, keccak256, toBeHex, toQuantity } from 'ethers'
import { type DevnetContracts } from '../../evm/registry.js'
import { callRpc, callRpcBatch, type RpcCall } from './rpc.js'

/** Slot of `_reserves` in the Pool of Aave v3.0.2: 52 slots of VersionedInitializable come before it. */
const AAVE_RESERVES_SLOT = 52n
/** Slot of a reserve, counted from its first one, that holds `lastUpdateTimestamp` in bits 128 to 167. */
const AAVE_UPDATE_OFFSET = 3n
const AAVE_UPDATE_SHIFT = 128

/** Slot of `accruedAt` in DevComet. */
const COMET_ACCRUED_SLOT = '0x4'

const TIMESTAMP_MASK = (1n << 40n) - 1n

const pool = new Interface([
  'function getReservesList() view returns (address[])',
  'function getReserveData(address asset) view returns (tuple(uint256 configuration, uint128 liquidityIndex, uint128 currentLiquidityRate, uint128 variableBorrowIndex, uint128 currentVariableBorrowRate, uint128 currentStableBorrowRate, uint40 lastUpdateTimestamp, uint16 id, address aToken, address stableDebtToken, address variableDebtToken, address strategy, uint128 accruedToTreasury, uint128 unbacked, uint128 isolationModeTotalDebt))',
])
const comet = new Interface([
  'function totalsBasic() view returns (uint64, uint64, uint64, uint64, uint104, uint104, uint40 lastAccrualTime, uint8)',
])

/** A stored time of the last accrual: its contract, its slot, its first bit there, and its value in Unix seconds. */
export type Accrual = { at: string; slot: string; shift: number; seconds: number }

/**
 * Moves the last accruals of lending markets into the past, so that the markets pay interest for that time. The vault
 * earns it from Aave. Blocks keep their times.
 *
 * The contract holds the mark of its last move. The node writes the mark together with the time, so that a repeat
 * changes nothing, also after deposits in between.
 *
 * @param move - `mark`: 32 bytes in hex, new for every move.
 */
export async function moveAccruals(
  rpcUrl: string,
  accruals: Accrual[],
  { seconds, mark }: { seconds: number; mark: string },
): Promise<void> {
  for (const { at, slot, shift } of accruals) {
    // No variable of the contract is there.
    const markSlot = toQuantity(keccak256(toBeHex(slot, 32)))
    const [word = '', found] = await callAll(rpcUrl, [
      ['eth_getStorageAt', [at, slot, 'latest']],
      ['eth_getStorageAt', [at, markSlot, 'latest']],
    ])
    if (found === mark) continue
    const moved = BigInt(word) - (BigInt(seconds) << BigInt(shift))
    await callAll(rpcUrl, [
      ['anvil_setStorageAt', [at, slot, toBeHex(moved, 32)]],
      ['anvil_setStorageAt', [at, markSlot, mark]],
    ])
  }
}

async function callAll(rpcUrl: string, calls: RpcCall[]): Promise<(string | undefined)[]> {
  const answers = await callRpcBatch<string>(rpcUrl, calls)
  return answers.map(({ result, error }, i) => {
    if (error) throw new Error(`${calls[i]?.[0]}: ${error}`)
    return result
  })
}

/**
 * The last accrual of every lending market of a chain.
 *
 * @throws Error when a slot does not hold the time that its contract reports.
 */
export async function readAccruals(
  rpcUrl: string,
  { aavePool, comet }: DevnetContracts,
): Promise<Accrual[]> {
  const accruals = [
    ...(await readAaveAccruals(rpcUrl, aavePool)),
    ...(comet ? [await readCometAccrual(rpcUrl, comet)] : []),
  ]
  await Promise.all(accruals.map((accrual) => assertHolds(rpcUrl, accrual)))
  return accruals
}

async function readAaveAccruals(rpcUrl: string, at: string): Promise<Accrual[]> {
  const call = createCall(rpcUrl, at, pool)
  const [assets] = (await call('getReservesList')) as unknown as [string[]]
  return Promise.all(
    assets.map(async (asset) => {
      const [data] = (await call('getReserveData', [asset])) as unknown as [Record<string, bigint>]
      const key = AbiCoder.defaultAbiCoder().encode(
        ['address', 'uint256'],
        [asset, AAVE_RESERVES_SLOT],
      )
      const slot = toQuantity(BigInt(keccak256(key)) + AAVE_UPDATE_OFFSET)
      return { at, slot, shift: AAVE_UPDATE_SHIFT, seconds: Number(data.lastUpdateTimestamp) }
    }),
  )
}

async function readCometAccrual(rpcUrl: string, at: string): Promise<Accrual> {
  const totals = await createCall(rpcUrl, at, comet)('totalsBasic')
  const seconds = Number(totals.getValue('lastAccrualTime'))
  return { at, slot: COMET_ACCRUED_SLOT, shift: 0, seconds }
}

const createCall =
  (rpcUrl: string, to: string, abi: Interface) =>
  async (name: string, args: unknown[] = []) => {
    const call = { to, data: abi.encodeFunctionData(name, args) }
    const answer = await callRpc<string>(rpcUrl, 'eth_call', [call, 'latest'])
    return abi.decodeFunctionResult(name, answer)
  }

async function assertHolds(rpcUrl: string, accrual: Accrual): Promise<void> {
  const { at, slot, shift, seconds } = accrual
  const word = BigInt(await callRpc<string>(rpcUrl, 'eth_getStorageAt', [at, slot, 'latest']))
  if (((word >> BigInt(shift)) & TIMESTAMP_MASK) === BigInt(seconds)) return
  throw new Error(`Devnet: slot ${slot} of ${at} holds no time of accrual. Start over.`)
}
