import { Interface } from 'ethers'

/** What the contracts refuse by that the service calls: account, tokens, vaults, Comet, Aave since 3.4. */
const errors = new Interface([
  'error ExecuteError(uint256 index, bytes inner)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
  'error Paused()',
  'error NotCollateralized()',
  'error ReserveInactive()',
  'error ReserveFrozen()',
  'error ReservePaused()',
  'error SupplyCapExceeded()',
  'error NotEnoughAvailableUserBalance()',
])

/** @see Errors.sol of Aave v3.0 to v3.3, whose reverts say a number */
const aaveTexts: Record<string, string> = {
  26: 'the amount is zero',
  27: 'the reserve is not active',
  28: 'the reserve is frozen',
  29: 'the reserve is paused',
  32: 'more than the position',
  51: 'the supply cap is reached',
}

/** What Circle's USDC and bridge say when it is Circle that refuses. */
const circleTexts: Record<string, string> = {
  'Pausable: paused': 'Circle has paused it',
  'Blacklistable: account is blacklisted': 'Circle has blacklisted the account',
  'Denylistable: account is on denylist': 'the account is on the denylist of the bridge',
}

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
  if (name !== 'Error') return `${name}(${args.join(', ')})`
  const message = args[0] as string
  const aave = aaveTexts[message]
  if (aave) return `${aave} (Aave ${message})`
  const circle = circleTexts[message]
  return circle ? `${circle} (${message})` : message.slice(0, MAX_LENGTH)
}

function parse(data: string) {
  try {
    return errors.parseError(data)
  } catch {
    return null
  }
}
