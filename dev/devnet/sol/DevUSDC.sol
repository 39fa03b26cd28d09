// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for Circle's USDC (FiatToken v2.2): 6 decimals, EIP-2612 permits, EIP-3009 authorizations, minters,
// a blacklist, a pause, and Circle's own words for what it refuses. Its owner has all of Circle's roles. As there,
// approvals and permits are not bound to the blacklist, and blacklisted accounts stand in the top bit of their balance.
// Its name, and with it the domain of signatures, differs from chain to chain.
// Signatures of accounts with code are checked by ERC-1271: a wallet delegated by EIP-7702 has code and must still
// be able to sign permits and authorizations.

import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

contract DevUSDC is EIP712, Nonces {
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

    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
    string public constant version = "2";
    uint256 private constant BLACKLISTED = 1 << 255;

    address public immutable owner = msg.sender;
    string public name;
    bool public paused;
    /// Puts what follows where FiatToken has it, at slot 9 and on: simulations give money to accounts there.
    uint256[4] private gap;
    mapping(address => uint256) private balanceAndBlacklistStates;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 public totalSupply;
    mapping(address => bool) public isMinter;
    mapping(address => uint256) public minterAllowance;

    /// Authorizer -> nonce -> whether it was used or cancelled.
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);
    event Blacklisted(address indexed _account);
    event UnBlacklisted(address indexed _account);
    event Pause();
    event Unpause();
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted(account), "Blacklistable: account is blacklisted");
        _;
    }

    modifier onlyMinters() {
        require(isMinter[msg.sender], "FiatToken: caller is not a minter");
        _;
    }

    constructor(string memory name_) EIP712(name_, "2") {
        name = name_;
        isMinter[msg.sender] = true;
        minterAllowance[msg.sender] = type(uint256).max;
        balanceAndBlacklistStates[address(this)] = BLACKLISTED;
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function balanceOf(address account) public view returns (uint256) {
        return balanceAndBlacklistStates[account] & ~BLACKLISTED;
    }

    function isBlacklisted(address account) public view returns (bool) {
        return balanceAndBlacklistStates[account] & BLACKLISTED != 0;
    }

    function blacklist(address account) external {
        require(msg.sender == owner, "Blacklistable: caller is not the blacklister");
        balanceAndBlacklistStates[account] |= BLACKLISTED;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external {
        require(msg.sender == owner, "Blacklistable: caller is not the blacklister");
        balanceAndBlacklistStates[account] &= ~BLACKLISTED;
        emit UnBlacklisted(account);
    }

    function pause() external {
        require(msg.sender == owner, "Pausable: caller is not the pauser");
        paused = true;
        emit Pause();
    }

    function unpause() external {
        require(msg.sender == owner, "Pausable: caller is not the pauser");
        paused = false;
        emit Unpause();
    }

    function configureMinter(address minter, uint256 allowedAmount) external whenNotPaused returns (bool) {
        require(msg.sender == owner, "FiatToken: caller is not the masterMinter");
        isMinter[minter] = true;
        minterAllowance[minter] = allowedAmount;
        emit MinterConfigured(minter, allowedAmount);
        return true;
    }

    function mint(address to, uint256 amount)
        external
        whenNotPaused
        onlyMinters
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        require(amount <= minterAllowance[msg.sender], "FiatToken: mint amount exceeds minterAllowance");
        totalSupply += amount;
        _setBalance(to, balanceOf(to) + amount);
        minterAllowance[msg.sender] -= amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    function burn(uint256 amount) external whenNotPaused onlyMinters notBlacklisted(msg.sender) {
        uint256 balance = balanceOf(msg.sender);
        require(amount > 0, "FiatToken: burn amount not greater than 0");
        require(balance >= amount, "FiatToken: burn amount exceeds balance");
        totalSupply -= amount;
        _setBalance(msg.sender, balance - amount);
        emit Burn(msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        _approve(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        require(value <= allowance[from][msg.sender], "ERC20: transfer amount exceeds allowance");
        _transfer(from, to, value);
        allowance[from][msg.sender] -= value;
        return true;
    }

    function permit(address holder, address spender, uint256 value, uint256 deadline, bytes memory signature)
        public
        whenNotPaused
    {
        require(block.timestamp <= deadline, "FiatTokenV2: permit is expired");
        bytes32 structHash =
            keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, value, _useNonce(holder), deadline));
        require(_isSigned(holder, structHash, signature), "EIP2612: invalid signature");
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
        _transferAuthorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, authorization, signature);
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
        _transferAuthorized(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, authorization, abi.encodePacked(r, s, v));
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
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        Authorization memory authorization = Authorization(from, to, value, validAfter, validBefore, nonce);
        _transferAuthorized(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, authorization, signature);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external whenNotPaused {
        _checkUnused(authorizer, nonce);
        bytes32 structHash = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        require(_isSigned(authorizer, structHash, signature), "FiatTokenV2: invalid signature");
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function _transferAuthorized(bytes32 typeHash, Authorization memory a, bytes memory signature)
        private
        whenNotPaused
        notBlacklisted(a.from)
        notBlacklisted(a.to)
    {
        require(block.timestamp > a.validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < a.validBefore, "FiatTokenV2: authorization is expired");
        _checkUnused(a.from, a.nonce);
        bytes32 structHash = keccak256(abi.encode(typeHash, a));
        require(_isSigned(a.from, structHash, signature), "FiatTokenV2: invalid signature");
        authorizationState[a.from][a.nonce] = true;
        emit AuthorizationUsed(a.from, a.nonce);
        _transfer(a.from, a.to, a.value);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 balance = balanceOf(from);
        require(value <= balance, "ERC20: transfer amount exceeds balance");
        _setBalance(from, balance - value);
        _setBalance(to, balanceOf(to) + value);
        emit Transfer(from, to, value);
    }

    function _setBalance(address account, uint256 balance) private {
        require(balance < BLACKLISTED, "FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        require(!isBlacklisted(account), "FiatTokenV2_2: Account is blacklisted");
        balanceAndBlacklistStates[account] = balance;
    }

    function _approve(address holder, address spender, uint256 value) private {
        require(holder != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[holder][spender] = value;
        emit Approval(holder, spender, value);
    }

    function _checkUnused(address authorizer, bytes32 nonce) private view {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
    }

    function _isSigned(address signer, bytes32 structHash, bytes memory signature) private view returns (bool) {
        return SignatureChecker.isValidSignatureNow(signer, _hashTypedDataV4(structHash), signature);
    }
}
