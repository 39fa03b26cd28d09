// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for a lending vault: OpenZeppelin's ERC-4626 over a position in the real Aave of the devnet, so that
// its shares grow by interest that somebody pays. A tenth of its money stays idle, as vaults keep it for withdrawals;
// so it pays nine tenths of Aave's rate.

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

interface ILendingPool {
    function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode) external;
    function withdraw(address asset, uint256 amount, address to) external returns (uint256);
}

contract DevVault is ERC4626 {
    uint256 private constant IDLE_PART = 10;

    ILendingPool public immutable pool;
    IERC20 public immutable aToken;

    constructor(IERC20 asset_, ILendingPool pool_, IERC20 aToken_) ERC20("Dev Vault USDC", "dvUSDC") ERC4626(asset_) {
        pool = pool_;
        aToken = aToken_;
        asset_.approve(address(pool_), type(uint256).max);
    }

    function totalAssets() public view override returns (uint256) {
        return aToken.balanceOf(address(this)) + _idle();
    }

    function maxWithdraw(address holder) public view virtual override returns (uint256) {
        return Math.min(super.maxWithdraw(holder), _idle() + _withdrawable());
    }

    function maxRedeem(address holder) public view virtual override returns (uint256) {
        return Math.min(super.maxRedeem(holder), convertToShares(_idle() + _withdrawable()));
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        uint256 lent = _lentPart(assets);
        if (lent > 0) pool.supply(asset(), lent, address(this), 0);
    }

    function _withdraw(address caller, address receiver, address holder, uint256 assets, uint256 shares)
        internal
        override
    {
        uint256 missing = assets - Math.min(assets, _idle());
        uint256 lent = Math.max(missing, Math.min(_lentPart(assets), _withdrawable()));
        if (lent > 0) pool.withdraw(asset(), lent, address(this));
        super._withdraw(caller, receiver, holder, assets, shares);
    }

    function _idle() private view returns (uint256) {
        return IERC20(asset()).balanceOf(address(this));
    }

    /// Of what the vault has lent, what nobody has borrowed.
    function _withdrawable() private view returns (uint256) {
        return Math.min(aToken.balanceOf(address(this)), IERC20(asset()).balanceOf(address(aToken)));
    }

    function _lentPart(uint256 assets) private pure returns (uint256) {
        return assets - assets / IDLE_PART;
    }
}
