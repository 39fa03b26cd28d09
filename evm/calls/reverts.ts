import { Interface } from 'ethers'

/**
 * Errors of the contracts that the service calls, and their meaning where the name is not sufficient.
 *
 * @see https://github.com/aave-dao/aave-v3-origin Errors.sol: custom errors since Aave 3.4
 * @see https://github.com/compound-finance/comet CometMainInterface.sol
 * @see https://github.com/morpho-org/metamorpho ErrorsLib.sol
 * @see https://github.com/morpho-org/vault-v2 ErrorsLib.sol
 */
const customErrors: Record<string, string | undefined> = {
  // The smart account: the error of a call in a batch.
  'ExecuteError(uint256 index, bytes inner)': undefined,
  // OpenZeppelin tokens and vaults.
  'ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)': undefined,
  'ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)': undefined,
  'ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)': undefined,
  'ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)': undefined,
  'ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)': undefined,
  // Aave.
  'InvalidAmount()': 'the amount is zero or too small',
  'InvalidMintAmount()': 'the amount is too small',
  'InvalidBurnAmount()': 'the amount is too small',
  'ReserveInactive()': 'the reserve is not active',
  'ReserveFrozen()': 'the reserve is frozen',
  'ReservePaused()': 'the reserve is paused',
  'NotEnoughAvailableUserBalance()': 'the amount exceeds the position',
  'HealthFactorLowerThanLiquidationThreshold()': 'the position is collateral of a loan',
  'SupplyToAToken()': 'the reserve itself cannot be the receiver',
  'WithdrawToAToken()': 'the reserve itself cannot be the receiver',
  // Comet. Aave has an error of the first name too.
  'SupplyCapExceeded()': 'the supply cap is reached',
  'Paused()': 'the market is paused',
  'BadAsset()': 'the market is of another token',
  'BorrowTooSmall()': 'the amount exceeds the position, and the loan would be too small',
  'NotCollateralized()': 'the amount exceeds the position, and the loan would have no collateral',
  'TransferInFailed()': 'the token transfer into the market failed',
  'TransferOutFailed()': 'the token transfer out of the market failed',
  // Vaults of Morpho.
  'NotEnoughLiquidity()': 'the vault cannot withdraw that much from its markets now',
  'AllCapsReached()': 'the vault has reached all its caps',
  'AbsoluteCapExceeded()': 'the vault has reached a cap',
  'RelativeCapExceeded()': 'the vault has reached a cap',
  'CannotReceiveShares()': 'the vault does not accept the wallet',
  'CannotSendAssets()': 'the vault does not accept the wallet',
  'CannotSendShares()': 'the vault does not pay the wallet out',
  'CannotReceiveAssets()': 'the vault does not pay the wallet out',
  'TransferReverted()': 'the token transfer out of the vault failed',
  'TransferFromReverted()': 'the token transfer into the vault failed',
}

const errors = new Interface(Object.keys(customErrors).map((signature) => `error ${signature}`))

/** By error name. */
const texts = new Map(
  Object.entries(customErrors).map(([signature, text]) => [signature.split('(')[0], text]),
)

/** @see Errors.sol of Aave v3.0 to v3.3, which reverts with a number */
const aaveTexts: Record<string, string> = {
  24: 'the amount is too small',
  25: 'the amount is too small',
  26: 'the amount is zero',
  27: 'the reserve is not active',
  28: 'the reserve is frozen',
  29: 'the reserve is paused',
  32: 'the amount exceeds the position',
  35: 'the position is collateral of a loan',
  51: 'the supply cap is reached',
  93: 'the reserve itself cannot be the receiver',
  94: 'the reserve itself cannot be the receiver',
}

/** Revert texts of Circle's USDC and bridge for restrictions by Circle. */
const circleTexts: Record<string, string> = {
  'Pausable: paused': 'Circle has paused it',
  'Blacklistable: account is blacklisted': 'Circle has blacklisted the account',
  'Denylistable: account is on denylist': 'the account is on the denylist of the bridge',
  'Burn amount exceeds per tx limit': 'the amount exceeds the limit of one bridge transfer',
}

/** @see https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const OVERFLOW = 17n

/** Foreign contracts may return texts of any length. */
const MAX_LENGTH = 200

/**
 * Why a wallet's call failed, from its return data. Unwraps the account's own error, which contains the error of a call
 * in a batch.
 *
 * @param data - Hex text, as in `details.data` of an RPC_ERROR.
 * @returns undefined for an unknown error.
 */
export function explainRevert(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined
  const error = parse(data)
  if (!error) return undefined
  const { name, args } = error
  if (name === 'ExecuteError') return explainRevert(args.inner)
  if (name === 'Error') return explainText(args[0] as string)
  const original = `${name}(${args.join(', ')})`
  // Aave's pool panics like this when a payout exceeds its internal balance.
  const isOverdrawn = name === 'Panic' && args[0] === OVERFLOW
  const text = isOverdrawn ? 'arithmetic overflow in the contract' : texts.get(name)
  return text ? `${text} (${original})` : original
}

function explainText(original: string): string {
  const aave = aaveTexts[original]
  if (aave) return `${aave} (Aave ${original})`
  const circle = circleTexts[original]
  return circle ? `${circle} (${original})` : original.slice(0, MAX_LENGTH)
}

function parse(data: string) {
  try {
    return errors.parseError(data)
  } catch {
    return null
  }
}
