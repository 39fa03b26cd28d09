import { AbiCoder, Interface, keccak256, toBeHex, toQuantity } from 'ethers'
import { type DevnetContracts } from '../../evm/registry.js'
import { callRpc } from './rpc.js'

/** Slot of `_reserves` in the Pool of Aave v3.0.2: 52 slots of VersionedInitializable come before it. */
const AAVE_RESERVES_SLOT = 52n
/** Slot of a reserve, counted from its first one, that holds `lastUpdateTimestamp` in bits 128 to 167. */
const AAVE_UPDATE_OFFSET = 3n
const AAVE_UPDATE_SHIFT = 128n

/** Slot of `accruedAt` in DevComet. */
const COMET_ACCRUED_SLOT = 4n

const TIMESTAMP_MASK = (1n << 40n) - 1n

const pool = new Interface([
  'function getReservesList() view returns (address[])',
  'function getReserveData(address asset) view returns (tuple(uint256 configuration, uint128 liquidityIndex, uint128 currentLiquidityRate, uint128 variableBorrowIndex, uint128 currentVariableBorrowRate, uint128 currentStableBorrowRate, uint40 lastUpdateTimestamp, uint16 id, address aToken, address stableDebtToken, address variableDebtToken, address strategy, uint128 accruedToTreasury, uint128 unbacked, uint128 isolationModeTotalDebt))',
])
const comet = new Interface([
  'function totalsBasic() view returns (uint64, uint64, uint64, uint64, uint104, uint104, uint40 lastAccrualTime, uint8)',
])

/** A stored time of the last accrual: its contract, its slot, its first bit there, and its value in Unix seconds. */
type Accrual = { at: string; slot: bigint; shift: bigint; seconds: bigint }

/** With the value of the whole slot. */
type StoredAccrual = Accrual & { word: bigint }

/** A value for a slot of a contract. */
export type StorageWrite = { at: string; slot: string; word: string }

/**
 * The writes that move the last accrual of every lending market of a chain into the past, so that the market pays
 * interest for that time. The vault earns it from Aave. Blocks keep their times.
 *
 * @throws Error when a slot does not hold the time that its contract reports.
 */
export async function planAccruals(
  rpcUrl: string,
  contracts: DevnetContracts,
  seconds: number,
): Promise<StorageWrite[]> {
  const accruals = await readAccruals(rpcUrl, contracts)
  return accruals.map(({ at, slot, shift, word }) => {
    const moved = word - (BigInt(seconds) << shift)
    return { at, slot: toQuantity(slot), word: toBeHex(moved, 32) }
  })
}

/** A repeat changes nothing. */
export async function writeStorage(rpcUrl: string, writes: StorageWrite[]): Promise<void> {
  for (const { at, slot, word } of writes) {
    await callRpc(rpcUrl, 'anvil_setStorageAt', [at, slot, word])
  }
}

/**
 * The last accrual of every lending market of a chain.
 *
 * @throws Error when a slot does not hold the time that its contract reports.
 */
export async function readAccruals(
  rpcUrl: string,
  { aavePool, comet }: DevnetContracts,
): Promise<StoredAccrual[]> {
  const accruals = [
    ...(await readAaveAccruals(rpcUrl, aavePool)),
    ...(comet ? [await readCometAccrual(rpcUrl, comet)] : []),
  ]
  return Promise.all(
    accruals.map(async (accrual) => ({ ...accrual, word: await readWord(rpcUrl, accrual) })),
  )
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
      const slot = BigInt(keccak256(key)) + AAVE_UPDATE_OFFSET
      return { at, slot, shift: AAVE_UPDATE_SHIFT, seconds: data.lastUpdateTimestamp ?? 0n }
    }),
  )
}

async function readCometAccrual(rpcUrl: string, at: string): Promise<Accrual> {
  const totals = await createCall(rpcUrl, at, comet)('totalsBasic')
  const seconds = totals.getValue('lastAccrualTime') as bigint
  return { at, slot: COMET_ACCRUED_SLOT, shift: 0n, seconds }
}

const createCall =
  (rpcUrl: string, to: string, abi: Interface) =>
  async (name: string, args: unknown[] = []) => {
    const call = { to, data: abi.encodeFunctionData(name, args) }
    const answer = await callRpc<string>(rpcUrl, 'eth_call', [call, 'latest'])
    return abi.decodeFunctionResult(name, answer)
  }

async function readWord(rpcUrl: string, { at, slot, shift, seconds }: Accrual): Promise<bigint> {
  const params = [at, toQuantity(slot), 'latest']
  const word = BigInt(await callRpc<string>(rpcUrl, 'eth_getStorageAt', params))
  if (((word >> shift) & TIMESTAMP_MASK) === seconds) return word
  throw new Error(`Devnet: slot ${toQuantity(slot)} of ${at} holds no time of accrual. Start over.`)
}
