// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for Circle's TokenMessengerV2 (CCTP v2): the same functions, events, checks and byte layout, not the
// same bytecode. It mints and burns by itself, where Circle's has a minter beside it, which keeps the limits of burns,
// and sends no hooks.
//
// body: version 0 | burned token 4 | mint recipient 36 | amount 68 | message sender 100 | maximum fee 132 |
//       executed fee 164 | expiration block 196 | hook data 228
// The source emits executed fee and expiration block as zero. The attestation service fills them in.

import {DevBlocks} from "./DevBlocks.sol";

interface IMintableToken {
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
    function mint(address to, uint256 amount) external returns (bool);
    function burn(uint256 amount) external;
}

interface IMessageTransmitter {
    function sendMessage(uint32 domain, bytes32 recipient, bytes32 caller, uint32 finality, bytes calldata body)
        external;
}

contract DevCctpMessenger {
    struct Burn {
        uint256 amount;
        uint32 domain;
        bytes32 recipient;
        address token;
        bytes32 caller;
        uint256 maxFee;
        uint32 finality;
    }

    uint32 public constant messageBodyVersion = 1;
    uint32 private constant LOWEST_FINALITY = 500;
    /// `minFee` counts thousandths of a basis point.
    uint256 private constant FEE_UNITS = 10_000_000;

    address public immutable owner = msg.sender;
    address public immutable localMessageTransmitter;
    address public immutable feeRecipient;
    uint256 public minFee;
    mapping(uint32 => bytes32) public remoteTokenMessengers;
    /// Domain -> token there -> token here.
    mapping(uint32 => mapping(bytes32 => address)) public localTokens;
    /// Base units of a token that one burn may move; what has none cannot be burned.
    mapping(address => uint256) public burnLimitsPerMessage;
    mapping(address => bool) public isDenylisted;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    event SetBurnLimitPerMessage(address indexed token, uint256 burnLimitPerMessage);
    event Denylisted(address indexed account);
    event UnDenylisted(address indexed account);

    /// Also checks the account that sends the transaction, such as the sender of a bundle.
    modifier notDenylistedCallers() {
        require(!isDenylisted[msg.sender] && !isDenylisted[tx.origin], "Denylistable: account is on denylist");
        _;
    }

    modifier onlyDenylister() {
        require(msg.sender == owner, "Denylistable: caller is not denylister");
        _;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    constructor(address transmitter, address feeRecipient_) {
        localMessageTransmitter = transmitter;
        feeRecipient = feeRecipient_;
    }

    function addRemoteTokenMessenger(uint32 domain, bytes32 messenger) external onlyOwner {
        remoteTokenMessengers[domain] = messenger;
    }

    function linkTokenPair(address localToken, uint32 domain, bytes32 remoteToken) external onlyOwner {
        localTokens[domain][remoteToken] = localToken;
    }

    function setMaxBurnAmountPerMessage(address localToken, uint256 burnLimitPerMessage) external {
        require(msg.sender == owner, "Caller is not tokenController");
        burnLimitsPerMessage[localToken] = burnLimitPerMessage;
        emit SetBurnLimitPerMessage(localToken, burnLimitPerMessage);
    }

    function denylist(address account) external onlyDenylister {
        isDenylisted[account] = true;
        emit Denylisted(account);
    }

    function unDenylist(address account) external onlyDenylister {
        isDenylisted[account] = false;
        emit UnDenylisted(account);
    }

    /// Who keeps `burnLimitsPerMessage`.
    function localMinter() external view returns (address) {
        return address(this);
    }

    function setMinFee(uint256 minFee_) external onlyOwner {
        minFee = minFee_;
    }

    function getMinFeeAmount(uint256 amount) public view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        uint256 fee = amount * minFee / FEE_UNITS;
        return fee == 0 ? 1 : fee;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external notDenylistedCallers {
        _burn(
            Burn(amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold)
        );
    }

    function handleReceiveFinalizedMessage(uint32 source, bytes32 sender, uint32, bytes calldata body)
        external
        returns (bool)
    {
        return _mint(source, sender, body);
    }

    function handleReceiveUnfinalizedMessage(uint32 source, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool)
    {
        require(finality >= LOWEST_FINALITY, "Unsupported finality threshold");
        return _mint(source, sender, body);
    }

    function _burn(Burn memory b) private {
        require(b.amount > 0, "Amount must be nonzero");
        require(b.recipient != 0, "Mint recipient must be nonzero");
        require(b.maxFee < b.amount, "Max fee must be less than amount");
        require(b.maxFee >= getMinFeeAmount(b.amount), "Insufficient max fee");
        bytes32 remote = remoteTokenMessengers[b.domain];
        require(remote != 0, "No TokenMessenger for domain");

        IMintableToken token = IMintableToken(b.token);
        require(token.transferFrom(msg.sender, address(this), b.amount), "Transfer operation failed");
        uint256 limit = burnLimitsPerMessage[b.token];
        require(limit > 0, "Burn token not supported");
        require(b.amount <= limit, "Burn amount exceeds per tx limit");
        token.burn(b.amount);

        bytes memory head = abi.encodePacked(messageBodyVersion, _toWord(b.token), b.recipient, b.amount);
        bytes memory body = abi.encodePacked(head, _toWord(msg.sender), b.maxFee, uint256(0), uint256(0));
        IMessageTransmitter(localMessageTransmitter).sendMessage(b.domain, remote, b.caller, b.finality, body);
        emit DepositForBurn(
            b.token, b.amount, msg.sender, b.recipient, b.domain, remote, b.caller, b.maxFee, b.finality, ""
        );
    }

    function _mint(uint32 source, bytes32 sender, bytes calldata body) private returns (bool) {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(sender != 0 && remoteTokenMessengers[source] == sender, "Remote TokenMessenger unsupported");
        require(body.length >= 228, "Invalid burn message: too short");
        require(uint32(bytes4(body[:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expirationBlock = uint256(bytes32(body[196:228]));
        require(expirationBlock == 0 || expirationBlock > DevBlocks.number(), "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        address token = localTokens[source][bytes32(body[4:36])];
        require(token != address(0), "Mint token not supported");

        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        IMintableToken(token).mint(recipient, amount - fee);
        if (fee > 0) IMintableToken(token).mint(feeRecipient, fee);
        emit MintAndWithdraw(recipient, amount - fee, token, fee);
        return true;
    }

    function _toWord(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
