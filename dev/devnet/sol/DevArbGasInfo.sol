// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for the precompile ArbGasInfo of Arbitrum Nitro: the price of posting data on L1. No constructor,
// so that its code can be placed at the precompile's address.

contract DevArbGasInfo {
    /// Slot 0: another price than the usual one, when above zero.
    uint256 private priced;

    /// Wei per unit of L1 gas; a byte of compressed data counts 16 units.
    function getL1BaseFeeEstimate() external view returns (uint256) {
        return priced == 0 ? 0.02 gwei : priced;
    }
}
