// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for Circle's USDC: 6 decimals, EIP-2612 permits, EIP-3009 authorizations, minted by its owner
// and by the minters that it names, which may also burn what they hold: the bridge's side of CCTP is one.
// Signatures of accounts with code are checked by ERC-1271: a wallet delegated by EIP-7702 has code and must still
// be able to sign permits and authorizations.

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

contract DevUSDC is ERC20, EIP712, Nonces {
    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    address public immutable owner = msg.sender;
    mapping(address => bool) public isMinter;

    /// Authorizer -> nonce -> whether it was used or cancelled.
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    modifier onlyMinters() {
        require(isMinter[msg.sender], "DevUSDC: not a minter");
        _;
    }

    constructor() ERC20("USDC", "USDC") EIP712("USDC", "2") {
        isMinter[msg.sender] = true;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function addMinter(address minter) external {
        require(msg.sender == owner, "DevUSDC: not the owner");
        isMinter[minter] = true;
    }

    function mint(address to, uint256 amount) external onlyMinters returns (bool) {
        _mint(to, amount);
        return true;
    }

    function burn(uint256 amount) external onlyMinters {
        _burn(msg.sender, amount);
    }

    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature) public {
        require(block.timestamp <= deadline, "DevUSDC: permit is expired");
        uint256 nonce = _useNonce(holder);
        _check(holder, keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, value, nonce, deadline)), signature);
        _approve(holder, spender, value);
    }

    function permit(address holder, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        permit(holder, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        Authorization memory authorization = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transfer(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, authorization, signature);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        Authorization memory authorization = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transfer(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, authorization, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        require(to == msg.sender, "DevUSDC: caller must be the payee");
        Authorization memory authorization = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transfer(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, authorization, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _checkUnused(authorizer, nonce);
        _check(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _transfer(bytes32 typeHash, Authorization memory a, bytes memory signature) private {
        require(block.timestamp > a.validAfter, "DevUSDC: authorization is not yet valid");
        require(block.timestamp < a.validBefore, "DevUSDC: authorization is expired");
        _checkUnused(a.from, a.nonce);
        _check(a.from, keccak256(abi.encode(typeHash, a)), signature);
        authorizationState[a.from][a.nonce] = true;
        emit AuthorizationUsed(a.from, a.nonce);
        _transfer(a.from, a.to, a.value);
    }

    function _checkUnused(address authorizer, bytes32 nonce) private view {
        require(!authorizationState[authorizer][nonce], "DevUSDC: authorization is used or canceled");
    }

    function _check(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 digest = _hashTypedDataV4(structHash);
        require(SignatureChecker.isValidSignatureNow(signer, digest, signature), "DevUSDC: invalid signature");
    }
}
