import { Interface } from 'ethers'

/**
 * What the contracts refuse by that the service calls, in their own names, and what it means where the name
 * does not tell.
 *
 * @see https://github.com/aave-dao/aave-v3-origin Errors.sol: custom errors since Aave 3.4
 * @see https://github.com/compound-finance/comet CometMainInterface.sol
 * @see https://github.com/morpho-org/metamorpho ErrorsLib.sol
 * @see https://github.com/morpho-org/vault-v2 ErrorsLib.sol
 */
const customErrors: Record<string, string | undefined> = {
  // The account, and what it wraps.
  'ExecuteError(uint256 index, bytes inner)': undefined,
  // Tokens and vaults of OpenZeppelin.
  'ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)': undefined,
  'ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)': undefined,
  'ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)': undefined,
  'ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)': undefined,
  'ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)': undefined,
  // Aave.
  'InvalidAmount()': 'the amount is zero, or too small to be counted',
  'InvalidMintAmount()': 'the amount is too small to be counted',
  'InvalidBurnAmount()': 'the amount is too small to be counted',
  'ReserveInactive()': 'the reserve is not active',
  'ReserveFrozen()': 'the reserve is frozen',
  'ReservePaused()': 'the reserve is paused',
  'NotEnoughAvailableUserBalance()': 'more than the position',
  'HealthFactorLowerThanLiquidationThreshold()': 'the position secures a debt',
  'SupplyToAToken()': 'the reserve itself cannot be the receiver',
  'WithdrawToAToken()': 'the reserve itself cannot be the receiver',
  // Comet. Aave has an error of the first name too.
  'SupplyCapExceeded()': 'the supply cap is reached',
  'Paused()': 'the market is paused',
  'BadAsset()': 'the market is one of another token',
  'BorrowTooSmall()': 'more than the position, which would be a loan below the smallest one',
  'NotCollateralized()': 'more than the position, which would be a loan without security',
  'TransferInFailed()': 'the token has not moved into the market',
  'TransferOutFailed()': 'the token has not moved out of the market',
  // Vaults of Morpho.
  'NotEnoughLiquidity()': 'the vault cannot get so much out of its markets now',
  'AllCapsReached()': 'the vault has reached all its caps',
  'AbsoluteCapExceeded()': 'the vault has reached a cap',
  'RelativeCapExceeded()': 'the vault has reached a cap',
  'CannotReceiveShares()': 'the vault does not let the wallet in',
  'CannotSendAssets()': 'the vault does not let the wallet in',
  'CannotSendShares()': 'the vault does not let the wallet out',
  'CannotReceiveAssets()': 'the vault does not let the wallet out',
  'TransferReverted()': 'the token has not moved out of the vault',
  'TransferFromReverted()': 'the token has not moved into the vault',
}

const errors = new Interface(Object.keys(customErrors).map((signature) => `error ${signature}`))

/** By the names of errors. */
const texts = new Map(
  Object.entries(customErrors).map(([signature, text]) => [signature.split('(')[0], text]),
)

/** @see Errors.sol of Aave v3.0 to v3.3, whose reverts say a number */
const aaveTexts: Record<string, string> = {
  24: 'the amount is too small to be counted',
  25: 'the amount is too small to be counted',
  26: 'the amount is zero',
  27: 'the reserve is not active',
  28: 'the reserve is frozen',
  29: 'the reserve is paused',
  32: 'more than the position',
  35: 'the position secures a debt',
  51: 'the supply cap is reached',
  93: 'the reserve itself cannot be the receiver',
  94: 'the reserve itself cannot be the receiver',
}

/** What Circle's USDC and bridge say when it is Circle that refuses. */
const circleTexts: Record<string, string> = {
  'Pausable: paused': 'Circle has paused it',
  'Blacklistable: account is blacklisted': 'Circle has blacklisted the account',
  'Denylistable: account is on denylist': 'the account is on the denylist of the bridge',
  'Burn amount exceeds per tx limit': 'more than one transfer of the bridge may move',
}

/** @see https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const OVERFLOW = 17n

/** What a contract says is not ours: it may be of any length. */
const MAX_LENGTH = 200

/**
 * Why a call of a wallet was refused, by what it returned. Looks into the account's own error, which wraps
 * that of a call in a batch.
 *
 * @param data - Hex text, as it stands in `details.data` of an RPC_ERROR.
 * @returns undefined when nobody here knows the error.
 */
export function explainRevert(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined
  const error = parse(data)
  if (!error) return undefined
  const { name, args } = error
  if (name === 'ExecuteError') return explainRevert(args.inner)
  if (name === 'Error') return explainText(args[0] as string)
  const said = `${name}(${args.join(', ')})`
  // Aave's pool ends so when it is to pay out more than it counts.
  const isOverdrawn = name === 'Panic' && args[0] === OVERFLOW
  const text = isOverdrawn ? 'a number of the contract left its range' : texts.get(name)
  return text ? `${text} (${said})` : said
}

function explainText(said: string): string {
  const aave = aaveTexts[said]
  if (aave) return `${aave} (Aave ${said})`
  const circle = circleTexts[said]
  return circle ? `${circle} (${said})` : said.slice(0, MAX_LENGTH)
}

function parse(data: string) {
  try {
    return errors.parseError(data)
  } catch {
    return null
  }
}
