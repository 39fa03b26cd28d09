// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for the predeploy GasPriceOracle of the OP Stack: what posting a transaction on L1 costs. It counts
// data as the Ecotone upgrade did, zeros for a quarter, where chains compress it since Fjord. No constructor, so that
// its code can be placed at the predeploy's address.

contract DevGasPriceOracle {
    // Those of Base: https://docs.base.org/base-chain/network-information/network-fees
    uint256 public constant baseFeeScalar = 2269;
    uint256 public constant blobBaseFeeScalar = 1055762;
    uint256 public constant decimals = 6;

    /// A signature's bytes, which an unsigned transaction lacks.
    uint256 private constant SIGNATURE_BYTES = 68;

    /// Slot 0: another base fee of L1 than the usual one, when above zero.
    uint256 private priced;

    function l1BaseFee() public view returns (uint256) {
        return priced == 0 ? 1 gwei : priced;
    }

    /// At least a sixteenth of the base fee: https://eips.ethereum.org/EIPS/eip-7918
    function blobBaseFee() public view returns (uint256) {
        return l1BaseFee() / 16;
    }

    /// Wei for a transaction that is serialized but not signed.
    function getL1Fee(bytes calldata data) external view returns (uint256) {
        uint256 units = SIGNATURE_BYTES * 16;
        for (uint256 i; i < data.length; ++i) {
            units += data[i] == 0 ? 4 : 16;
        }
        return feeOf(units);
    }

    /// The most that getL1Fee answers for so many bytes.
    function getL1FeeUpperBound(uint256 unsignedTxSize) external view returns (uint256) {
        return feeOf((unsignedTxSize + SIGNATURE_BYTES) * 16);
    }

    function feeOf(uint256 units) private view returns (uint256) {
        uint256 weighted = 16 * baseFeeScalar * l1BaseFee() + blobBaseFeeScalar * blobBaseFee();
        return (units * weighted) / (16 * 10 ** decimals);
    }
}
