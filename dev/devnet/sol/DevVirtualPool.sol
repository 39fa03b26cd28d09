// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Stand-in for what Aave's Pool does since 3.1 and the devnet's 3.0.2 does not: it counts by itself what it holds of an
// asset, the virtual balance, and pays out no more than that. What somebody has sent to the aToken beside it is not
// counted. Set as the implementation of a pool in place of the one to which it leaves all the rest.

interface IHolding {
    function balanceOf(address account) external view returns (uint256);
}

contract DevVirtualPool {
    /// Where no variable of Aave's is.
    bytes32 private constant BALANCE_SLOT = keccak256("steward.devnet.virtualUnderlyingBalance");

    address private immutable implementation;
    address private immutable asset;
    address private immutable aToken;

    constructor(address implementation_, address asset_, address aToken_) {
        implementation = implementation_;
        asset = asset_;
        aToken = aToken_;
    }

    /// As the upgrade to 3.1 does: what is there then is counted.
    function initialize(address) external {
        _set(IHolding(asset).balanceOf(aToken));
    }

    function getVirtualUnderlyingBalance(address asset_) external view returns (uint128) {
        return asset_ == asset ? uint128(_get()) : 0;
    }

    /// What enters or leaves in the course of a call is counted. More than there is ends in Panic(17), as in Aave.
    fallback() external payable {
        uint256 before = IHolding(asset).balanceOf(aToken);
        (bool success, bytes memory returned) = implementation.delegatecall(msg.data);
        if (!success) {
            assembly {
                revert(add(returned, 32), mload(returned))
            }
        }
        uint256 held = IHolding(asset).balanceOf(aToken);
        if (held != before) _set(_get() + held - before);
        assembly {
            return(add(returned, 32), mload(returned))
        }
    }

    function _get() private view returns (uint256 units) {
        bytes32 slot = BALANCE_SLOT;
        assembly {
            units := sload(slot)
        }
    }

    function _set(uint256 units) private {
        bytes32 slot = BALANCE_SLOT;
        assembly {
            sstore(slot, units)
        }
    }
}
