// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

// Devnet stand-in for a market of Compound III (Comet): the functions, events and errors that a lender of the base
// token meets, and its accounting by principal and index. Nobody can borrow; the owner takes money out for all
// borrowers, and interest is paid out of reserves, which the owner puts in by a plain transfer.

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

contract DevComet {
    uint8 public constant decimals = 6;
    /// The smallest loan, as on Ethereum.
    uint256 public constant baseBorrowMin = 100e6;
    uint256 private constant FACTOR_SCALE = 1e18;
    uint256 private constant INDEX_SCALE = 1e15;

    address public immutable governor = msg.sender;
    address public immutable baseToken;
    /// Interest per second of 1e18: what it grows by with utilization up to the kink, and above it.
    uint256 public immutable supplyPerSecondInterestRateSlopeLow;
    uint256 public immutable supplyPerSecondInterestRateSlopeHigh;
    uint256 public constant supplyPerSecondInterestRateBase = 0;
    uint256 public constant supplyKink = 0.8e18;

    uint256 public totalBorrow;
    bool public isSupplyPaused;
    bool public isWithdrawPaused;
    uint256 private totalPrincipal;
    uint256 private supplyIndex = INDEX_SCALE;
    uint256 private accruedAt = block.timestamp;
    mapping(address => uint256) private principalOf;

    error BadAsset();
    error BorrowTooSmall();
    error NotCollateralized();
    error Paused();
    error TransferInFailed();
    error TransferOutFailed();
    error Unauthorized();

    event Supply(address indexed from, address indexed dst, uint256 amount);
    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Withdraw(address indexed src, address indexed to, uint256 amount);

    modifier onlyGovernor() {
        if (msg.sender != governor) revert Unauthorized();
        _;
    }

    modifier onlyBase(address asset) {
        if (asset != baseToken) revert BadAsset();
        _;
    }

    constructor(address baseToken_, uint256 slope) {
        baseToken = baseToken_;
        supplyPerSecondInterestRateSlopeLow = slope;
        supplyPerSecondInterestRateSlopeHigh = 20 * slope;
    }

    function supply(address asset, uint256 amount) external onlyBase(asset) {
        if (isSupplyPaused) revert Paused();
        if (!IERC20(baseToken).transferFrom(msg.sender, address(this), amount)) revert TransferInFailed();
        _setBalance(msg.sender, balanceOf(msg.sender) + amount);
        emit Supply(msg.sender, msg.sender, amount);
        emit Transfer(address(0), msg.sender, amount);
    }

    function withdraw(address asset, uint256 amount) external onlyBase(asset) {
        if (isWithdrawPaused) revert Paused();
        uint256 balance = balanceOf(msg.sender);
        if (amount == type(uint256).max) amount = balance;
        // More than the balance is a loan, and nobody has put up anything for one.
        if (amount > balance && amount - balance < baseBorrowMin) revert BorrowTooSmall();
        if (amount > balance) revert NotCollateralized();
        _setBalance(msg.sender, balance - amount);
        _transferOut(amount);
        emit Withdraw(msg.sender, msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    function borrowForAll(uint256 amount) external onlyGovernor {
        _accrue();
        totalBorrow += amount;
        _transferOut(amount);
    }

    function pause(bool supplyPaused, bool, bool withdrawPaused, bool, bool) external onlyGovernor {
        isSupplyPaused = supplyPaused;
        isWithdrawPaused = withdrawPaused;
    }

    function balanceOf(address account) public view returns (uint256) {
        return principalOf[account] * _currentIndex() / INDEX_SCALE;
    }

    function totalSupply() public view returns (uint256) {
        return totalPrincipal * _currentIndex() / INDEX_SCALE;
    }

    /// Only the principal of all lenders is kept here; the other fields are zero.
    function totalsBasic()
        external
        view
        returns (uint64, uint64, uint64, uint64, uint104 totalSupplyBase, uint104, uint40, uint8)
    {
        return (uint64(supplyIndex), 0, 0, 0, uint104(totalPrincipal), 0, uint40(accruedAt), 0);
    }

    function getReserves() external view returns (int256) {
        uint256 cash = IERC20(baseToken).balanceOf(address(this));
        return int256(cash + totalBorrow) - int256(totalSupply());
    }

    function getUtilization() external view returns (uint256) {
        return _utilization(totalSupply());
    }

    function getSupplyRate(uint256 utilization) public view returns (uint64) {
        uint256 below = utilization < supplyKink ? utilization : supplyKink;
        uint256 low = supplyPerSecondInterestRateSlopeLow * below / FACTOR_SCALE;
        uint256 high = supplyPerSecondInterestRateSlopeHigh * (utilization - below) / FACTOR_SCALE;
        return uint64(supplyPerSecondInterestRateBase + low + high);
    }

    function _transferOut(uint256 amount) private {
        if (!IERC20(baseToken).transfer(msg.sender, amount)) revert TransferOutFailed();
    }

    function _utilization(uint256 supplied) private view returns (uint256) {
        return supplied == 0 ? 0 : totalBorrow * FACTOR_SCALE / supplied;
    }

    function _currentIndex() private view returns (uint256) {
        uint256 elapsed = block.timestamp - accruedAt;
        if (elapsed == 0) return supplyIndex;
        uint256 supplied = totalPrincipal * supplyIndex / INDEX_SCALE;
        uint256 rate = getSupplyRate(_utilization(supplied));
        return supplyIndex + supplyIndex * rate * elapsed / FACTOR_SCALE;
    }

    function _accrue() private {
        supplyIndex = _currentIndex();
        accruedAt = block.timestamp;
    }

    /// Rounded down: a balance may be one unit below what was supplied.
    function _setBalance(address account, uint256 balance) private {
        _accrue();
        uint256 principal = balance * INDEX_SCALE / supplyIndex;
        totalPrincipal = totalPrincipal - principalOf[account] + principal;
        principalOf[account] = principal;
    }
}
