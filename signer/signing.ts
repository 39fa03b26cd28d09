import type { Wallet } from 'ethers'
import { openAccount } from '../custody/open.js'
import { DELEGATE_ADDRESS, type Chain } from '../chains/registry.js'
import { hashUserOperation } from '../protocols/userOperation.js'
import {
  FUNDING_GAS,
  encodeCancellation,
  encodeTransfer,
  typedCancellation,
  typedTransfer,
  type Payload,
  type Signed,
  type Typed,
} from './payload.js'
import type { WalletSecret } from '../db/keys.js'
import type { Operation } from '../db/lanes/operations.js'
import type { Call } from '../domain/operation.js'
import type { Prepared } from './prepare.js'
import type { Keyring } from './round.js'

/**
 * Signs what was prepared; of a mint there is nothing to sign.
 *
 * @param open - Opens the key of a wallet.
 */
export async function signPrepared(
  { keyring, open }: { keyring: Keyring; open: OpenWallet },
  chain: Chain,
  prepared: Prepared,
): Promise<Signed> {
  const { operation } = prepared
  const gas = prepared.gas.toString()
  switch (prepared.kind) {
    case 'mint':
      return { operation, wallet: prepared.wallet, payload: { gas, call: prepared.call } }
    case 'funding': {
      const call = await signFunding(keyring, chain, prepared)
      return { operation, wallet: prepared.to, payload: { gas, call } }
    }
    case 'userOperation': {
      const payload = signUserOperation(await open(prepared.secret), chain, prepared)
      return { operation, wallet: prepared.secret.address, payload: { gas, ...payload } }
    }
  }
}

type OpenWallet = (secret: WalletSecret) => Promise<Wallet>

/** Opens the key of each wallet once, however much it signs. To be dropped with what is signed together. */
export function createOpener({ kek }: Keyring): OpenWallet {
  const opened = new Map<string, Promise<Wallet>>()
  return (secret) => {
    const context = { purpose: 'wallet' as const, owner: secret.walletId, ...secret }
    const known = opened.get(secret.walletId) ?? openAccount(kek, secret.sealed, context)
    opened.set(secret.walletId, known)
    return known
  }
}

function signUserOperation(
  wallet: Wallet,
  { chainId }: Chain,
  { draft, needsAuthorization }: Extract<Prepared, { kind: 'userOperation' }>,
): Pick<Payload, 'userOperation' | 'authorization'> {
  const { serialized: signature } = wallet.signingKey.sign(hashUserOperation(chainId, draft))
  const userOperation = { ...draft, signature }
  if (!needsAuthorization) return { userOperation }
  // Wallets send no transactions of their own, so that their account nonce is 0 until the delegation.
  const { signature: proof } = wallet.authorizeSync({
    address: DELEGATE_ADDRESS,
    nonce: 0,
    chainId,
  })
  const authorization = {
    address: DELEGATE_ADDRESS,
    nonce: '0',
    chainId: chainId.toString(),
    signature: proof.serialized,
  }
  return { userOperation, authorization }
}

async function signFunding(
  keyring: Keyring,
  chain: Chain,
  { to, units, operation }: Extract<Prepared, { kind: 'funding' }>,
): Promise<Call> {
  const { address: from } = keyring.treasury
  const typed = typedTransfer(chain, { from, to, value: units, nonce: operation.chainKey })
  return encodeTransfer(chain, typed, await signAsTreasury(keyring, typed))
}

/** The treasury takes back what it has signed for a funding, by the same key. */
export async function signCancellation(
  keyring: Keyring,
  chain: Chain,
  { chainKey: nonce }: Operation,
): Promise<Payload> {
  const typed = typedCancellation(chain, { authorizer: keyring.treasury.address, nonce })
  const call = encodeCancellation(chain, typed, await signAsTreasury(keyring, typed))
  return { gas: FUNDING_GAS.toString(), call }
}

async function signAsTreasury({ kek, treasury }: Keyring, typed: Typed): Promise<string> {
  const account = await openAccount(kek, treasury.sealed, treasuryContext(treasury))
  return account.signTypedData(typed.domain, typed.types, typed.message)
}

export const treasuryContext = (treasury: { address: string; kekId: string }) => ({
  purpose: 'treasury' as const,
  owner: treasury.address,
  accountId: '',
  address: treasury.address,
  kekId: treasury.kekId,
})
