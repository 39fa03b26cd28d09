// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for a Chainlink price feed: the reading interface of an aggregator with 8 decimals.
// The owner sets the answer. It is always as fresh as the block that reads it.

contract DevFeed {
    uint8 public constant decimals = 8;
    address public immutable owner = msg.sender;
    int256 public latestAnswer;
    string public description;

    constructor(int256 answer, string memory pair) {
        latestAnswer = answer;
        description = pair;
    }

    function setAnswer(int256 answer) external {
        require(msg.sender == owner, "DevFeed: not the owner");
        latestAnswer = answer;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (1, latestAnswer, block.timestamp, block.timestamp, 1);
    }
}
