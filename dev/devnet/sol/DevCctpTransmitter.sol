// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for Circle's MessageTransmitterV2 (CCTP v2): the same functions, events, checks and byte layout,
// not the same bytecode. As there, an attestation is a signature of each of as many attesters as the threshold says, in
// the order of their addresses. The owner may pause it.
//
// message: version 0 | source domain 4 | destination domain 8 | nonce 12 | sender 44 | recipient 76 |
//          destination caller 108 | minimum finality 140 | executed finality 144 | body 148
// The source emits nonce and executed finality as zero. The attestation service fills them in.

interface IMessageHandler {
    function handleReceiveFinalizedMessage(uint32 source, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);
    function handleReceiveUnfinalizedMessage(uint32 source, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);
}

contract DevCctpTransmitter {
    uint32 public constant version = 1;
    uint256 public constant maxMessageBodySize = 8192;
    uint32 private constant FINALIZED = 2000;
    uint256 private constant SIGNATURE_LENGTH = 65;

    address public immutable owner = msg.sender;
    uint32 public immutable localDomain;
    uint256 public immutable signatureThreshold;
    bool public paused;
    mapping(address => bool) public isEnabledAttester;
    /// 1 for a nonce that was received. That of a message without attestation, zero, counts as received.
    mapping(bytes32 => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    event Pause();
    event Unpause();

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier onlyPauser() {
        require(msg.sender == owner, "Pausable: caller is not the pauser");
        _;
    }

    constructor(uint32 domain, address[] memory attesters) {
        localDomain = domain;
        signatureThreshold = attesters.length;
        for (uint256 i; i < attesters.length; ++i) isEnabledAttester[attesters[i]] = true;
        usedNonces[0] = 1;
    }

    function pause() external onlyPauser {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyPauser {
        paused = false;
        emit Unpause();
    }

    function sendMessage(uint32 domain, bytes32 recipient, bytes32 caller, uint32 finality, bytes calldata body)
        external
        whenNotPaused
    {
        require(domain != localDomain, "Domain is local domain");
        require(body.length <= maxMessageBodySize, "Message body exceeds max size");
        require(recipient != 0, "Recipient must be nonzero");
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes memory head = abi.encodePacked(version, localDomain, domain, bytes32(0), sender, recipient);
        emit MessageSent(abi.encodePacked(head, caller, finality, uint32(0), body));
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation)
        external
        whenNotPaused
        returns (bool)
    {
        _checkAttestation(message, attestation);
        require(message.length >= 148, "Invalid message: too short");
        require(uint32(bytes4(message[8:12])) == localDomain, "Invalid destination domain");
        bytes32 caller = bytes32(message[108:140]);
        require(caller == 0 || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(uint32(bytes4(message[:4])) == version, "Invalid message version");
        bytes32 nonce = bytes32(message[12:44]);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        _deliver(message);
        return true;
    }

    function _checkAttestation(bytes calldata message, bytes calldata attestation) private view {
        require(attestation.length == SIGNATURE_LENGTH * signatureThreshold, "Invalid attestation length");
        bytes32 digest = keccak256(message);
        address latest = address(0);
        for (uint256 i; i < signatureThreshold; ++i) {
            bytes calldata signature = attestation[i * SIGNATURE_LENGTH:(i + 1) * SIGNATURE_LENGTH];
            (bytes32 r, bytes32 s) = abi.decode(signature[:64], (bytes32, bytes32));
            address signer = ecrecover(digest, uint8(signature[64]), r, s);
            require(signer != address(0), "ECDSA: invalid signature");
            require(signer > latest, "Invalid signature order or dupe");
            require(isEnabledAttester[signer], "Invalid signature: not attester");
            latest = signer;
        }
    }

    function _deliver(bytes calldata message) private {
        uint32 source = uint32(bytes4(message[4:8]));
        bytes32 sender = bytes32(message[44:76]);
        uint32 finality = uint32(bytes4(message[144:148]));
        bytes calldata body = message[148:];
        IMessageHandler handler = IMessageHandler(address(uint160(uint256(bytes32(message[76:108])))));
        if (finality < FINALIZED) {
            bool success = handler.handleReceiveUnfinalizedMessage(source, sender, finality, body);
            require(success, "handleReceiveUnfinalizedMessage() failed");
        } else {
            bool success = handler.handleReceiveFinalizedMessage(source, sender, finality, body);
            require(success, "handleReceiveFinalizedMessage() failed");
        }
        emit MessageReceived(msg.sender, source, bytes32(message[12:44]), sender, finality, body);
    }
}
