import { Interface, TypedDataEncoder, keccak256 } from 'ethers'
import { MULTICALL_ADDRESS } from '../../evm/calls/multicall.js'
import {
  DELEGATE_ADDRESS,
  DELEGATE_CODE_HASH,
  ENTRY_POINT_ADDRESS,
  type Token,
} from '../../evm/registry.js'
import { tokenDomain } from '../../evm/tokenDomain.js'
import { demoFunding } from '../../domain/intent/funding.js'
import { failed, ok, warning, type Probe, type CheckResult } from './look.js'

/** @see https://github.com/eth-infinitism/account-abstraction/blob/v0.8.0/contracts/core/EntryPoint.sol */
const entryPoint = new Interface(['function getDomainSeparatorV4() view returns (bytes32)'])
const token = new Interface([
  'function decimals() view returns (uint8)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])

/** Checks the contracts that every operation of a chain needs. */
export async function checkCore(probe: Probe): Promise<CheckResult[]> {
  const { chain, hasCode } = probe
  const multicall = hasCode(MULTICALL_ADDRESS)
    ? ok('Multicall3', 'chain', 'is deployed')
    : failed('Multicall3', 'chain', `no Multicall3 at ${MULTICALL_ADDRESS}`)
  if (!hasCode(MULTICALL_ADDRESS)) return [multicall, checkDelegate(probe)]
  const [account, decimals, domain] = await Promise.all([
    checkEntryPoint(probe),
    checkDecimals(probe),
    checkDomain(probe, chain.usdc),
  ])
  return [
    multicall,
    account,
    checkDelegate(probe),
    decimals,
    ...(hasCode(chain.usdc.address) ? [domain] : []),
  ]
}

async function checkEntryPoint({ chain, read }: Probe): Promise<CheckResult> {
  const at = { chainId: chain.chainId, verifyingContract: ENTRY_POINT_ADDRESS }
  const expected = TypedDataEncoder.hashDomain({ name: 'ERC4337', version: '1', ...at })
  const question = { to: ENTRY_POINT_ADDRESS, abi: entryPoint, name: 'getDomainSeparatorV4' }
  const answer = await read(question)
  if (answer?.[0] === expected) return ok('EntryPoint', 'chain', 'v0.8 signs for this chain')
  return failed('EntryPoint', 'chain', `no EntryPoint v0.8 at ${ENTRY_POINT_ADDRESS}`)
}

function checkDelegate({ codeAt }: Probe): CheckResult {
  if (keccak256(codeAt(DELEGATE_ADDRESS)) === DELEGATE_CODE_HASH) {
    return ok('Simple7702Account', 'chain', 'has the code of v0.8')
  }
  const detail = `no Simple7702Account v0.8 at ${DELEGATE_ADDRESS}`
  return failed('Simple7702Account', 'chain', detail)
}

async function checkDecimals({ chain: { usdc }, read }: Probe): Promise<CheckResult> {
  const answer = await read({ to: usdc.address, abi: token, name: 'decimals' })
  if (answer?.[0] === BigInt(usdc.decimals)) {
    return ok('USDC', 'chain', `has ${usdc.decimals} decimals`)
  }
  const detail = answer ? `USDC has ${String(answer[0])} decimals` : 'no USDC'
  return failed('USDC', 'chain', `${detail} at ${usdc.address}`)
}

/** Checks the EIP-712 domain that fundings are signed for. Only one chain has fundings. */
async function checkDomain({ chain, read }: Probe, usdc: Token): Promise<CheckResult> {
  const check = 'USDC domain'
  const { name, version } = usdc.eip712
  const answer = await read({ to: usdc.address, abi: token, name: 'DOMAIN_SEPARATOR' })
  if (answer?.[0] === TypedDataEncoder.hashDomain(tokenDomain(chain, usdc))) {
    return ok(check, 'funding', `is that of ${name}, version ${version}`)
  }
  const detail = `the signing domain of USDC is not that of ${name}, version ${version}`
  return chain.name === demoFunding.chain
    ? failed(check, 'funding', detail)
    : warning(check, 'funding', detail)
}
