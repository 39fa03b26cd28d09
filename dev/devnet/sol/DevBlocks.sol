// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// What contracts of the devnet take for the number of the block. On Arbitrum `block.number` is about the number of
// the block of Ethereum, not the chain's own height, which grows many times as fast and is what `eth_blockNumber`
// answers. anvil knows no such difference: the stand-ins that look at the number ask here.

library DevBlocks {
    uint256 private constant ARBITRUM = 42161;
    uint256 private constant ARBITRUM_SEPOLIA = 421614;
    /// Blocks of Arbitrum, four a second, to one of Ethereum.
    uint256 private constant BLOCKS_PER_L1_BLOCK = 48;

    function number() internal view returns (uint256) {
        if (block.chainid != ARBITRUM && block.chainid != ARBITRUM_SEPOLIA) return block.number;
        // Never zero, which in a message of the bridge means that it does not expire.
        return block.number / BLOCKS_PER_L1_BLOCK + 1;
    }
}
