// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Stand-in for a vault that tells nothing of what it takes and pays, as those of Morpho's Vault V2: `maxDeposit` and its
// like always answer zero, whatever it really does. Its owner may close it.

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {DevVault, ILendingPool} from "./DevVault.sol";

contract DevSilentVault is DevVault {
    address public immutable owner = msg.sender;
    uint256 public cap = type(uint256).max;

    error AbsoluteCapExceeded();

    constructor(IERC20 asset_, ILendingPool pool_, IERC20 aToken_) DevVault(asset_, pool_, aToken_) {}

    /// The most that it holds, base units.
    function setCap(uint256 units) external {
        require(msg.sender == owner);
        cap = units;
    }

    function maxDeposit(address) public pure override returns (uint256) {
        return 0;
    }

    function maxMint(address) public pure override returns (uint256) {
        return 0;
    }

    function maxWithdraw(address) public pure override returns (uint256) {
        return 0;
    }

    function maxRedeem(address) public pure override returns (uint256) {
        return 0;
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256 shares) {
        shares = previewDeposit(assets);
        _deposit(msg.sender, receiver, assets, shares);
        if (totalAssets() > cap) revert AbsoluteCapExceeded();
    }

    function withdraw(uint256 assets, address receiver, address holder) public override returns (uint256 shares) {
        shares = previewWithdraw(assets);
        _withdraw(msg.sender, receiver, holder, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address holder) public override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _withdraw(msg.sender, receiver, holder, assets, shares);
    }
}
