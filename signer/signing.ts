import type { Wallet } from 'ethers'
import { openAccount } from '../custody/open.js'
import { openWalletKey } from './check/openedKey.js'
import { DELEGATE_ADDRESS, type Chain } from '../evm/registry.js'
import { hashUserOperation } from '../evm/calls/userOperation.js'
import {
  FUNDING_GAS,
  encodeCancellation,
  encodeTransfer,
  typedCancellation,
  typedTransfer,
  type Authorization,
  type Payload,
  type Signed,
  type TypedData,
} from './build/payload.js'
import type { PrivateKek } from '../custody/kek/file.js'
import type { WalletSecret } from '../db/keys.js'
import type { Operation } from '../operations/operations.js'
import type { Call } from '../domain/intent/operation.js'
import type { Prepared } from './prepare.js'
import type { Keyring } from './signingContext.js'

/** Opens each key once. Drop it after the bundle is signed. */
type Opener = Pick<Keyring, 'treasury' | 'stopFile'> & {
  open(address: string, open: OpenKey): Promise<Wallet>
  /** Signs the delegation of a wallet once per account nonce. */
  authorize(wallet: Wallet, chain: Chain, nonce: bigint): Authorization
}
type OpenKey = (kek: PrivateKek) => Promise<Wallet>

export function createOpener({ kek, treasury, stopFile }: Keyring): Opener {
  const opened = new Map<string, Promise<Wallet>>()
  const authorized = new Map<string, Authorization>()
  return {
    treasury,
    stopFile,
    open(address, open) {
      const known = opened.get(address) ?? open(kek)
      opened.set(address, known)
      return known
    },
    authorize(wallet, chain, nonce) {
      stopFile.assertAbsent()
      const key = `${wallet.address}/${nonce}`
      const known = authorized.get(key) ?? signAuthorization(wallet, chain, nonce)
      authorized.set(key, known)
      return known
    },
  }
}

/** Signs a prepared operation. A mint needs no signature. */
export async function signPrepared(
  opener: Opener,
  chain: Chain,
  prepared: Prepared,
): Promise<Signed> {
  const { operation } = prepared
  const gas = prepared.gas.toString()
  switch (prepared.kind) {
    case 'mint':
      return { operation, wallet: prepared.wallet, payload: { gas, call: prepared.call } }
    case 'funding': {
      const call = await signFunding(opener, chain, prepared)
      return { operation, wallet: prepared.to, payload: { gas, call } }
    }
    case 'userOperation': {
      const wallet = await openWallet(opener, prepared.secret)
      const payload = signUserOperation(opener, wallet, { ...prepared, chain })
      return { operation, wallet: prepared.secret.address, payload: { gas, ...payload } }
    }
  }
}

function openWallet({ open }: Opener, secret: WalletSecret): Promise<Wallet> {
  return open(secret.address, (kek) => openWalletKey(kek, secret))
}

type Unsigned = Pick<
  Extract<Prepared, { kind: 'userOperation' }>,
  'draft' | 'authorizationNonce'
> & { chain: Chain }

function signUserOperation(
  { authorize, stopFile }: Opener,
  wallet: Wallet,
  { chain, draft, authorizationNonce }: Unsigned,
): Pick<Payload, 'userOperation' | 'authorization'> {
  stopFile.assertAbsent()
  const { serialized: signature } = wallet.signingKey.sign(hashUserOperation(chain.chainId, draft))
  const userOperation = { ...draft, signature }
  if (authorizationNonce === undefined) return { userOperation }
  return { userOperation, authorization: authorize(wallet, chain, authorizationNonce) }
}

/** Signs a new delegation for a stored signature, whose own can no longer work. */
export async function signDelegation(
  keyring: Keyring,
  chain: Chain,
  { secret, nonce }: { secret: WalletSecret; nonce: bigint },
): Promise<Authorization> {
  const opener = createOpener(keyring)
  return opener.authorize(await openWallet(opener, secret), chain, nonce)
}

function signAuthorization(wallet: Wallet, { chainId }: Chain, nonce: bigint): Authorization {
  const { signature } = wallet.authorizeSync({ address: DELEGATE_ADDRESS, nonce, chainId })
  return {
    address: DELEGATE_ADDRESS,
    nonce: nonce.toString(),
    chainId: chainId.toString(),
    signature: signature.serialized,
  }
}

async function signFunding(
  opener: Opener,
  chain: Chain,
  { to, units, operation }: Extract<Prepared, { kind: 'funding' }>,
): Promise<Call> {
  const { address: from } = opener.treasury
  const typedData = typedTransfer(chain, { from, to, value: units, nonce: operation.chainKey })
  return encodeTransfer(chain, typedData, await signAsTreasury(opener, typedData))
}

/** Signs the treasury's cancellation of a funding, with the same key. */
export async function signCancellation(
  keyring: Keyring,
  chain: Chain,
  { chainKey: nonce }: Operation,
): Promise<Payload> {
  const typedData = typedCancellation(chain, { authorizer: keyring.treasury.address, nonce })
  const call = encodeCancellation(
    chain,
    typedData,
    await signAsTreasury(createOpener(keyring), typedData),
  )
  return { gas: FUNDING_GAS.toString(), call }
}

async function signAsTreasury(
  { treasury, open, stopFile }: Opener,
  typedData: TypedData,
): Promise<string> {
  const account = await open(treasury.address, (kek) => {
    return openAccount(kek, treasury.sealed, treasuryContext(treasury))
  })
  stopFile.assertAbsent()
  return account.signTypedData(typedData.domain, typedData.types, typedData.message)
}

export const treasuryContext = (treasury: { address: string; kekId: string }) => ({
  purpose: 'treasury' as const,
  owner: treasury.address,
  accountId: '',
  address: treasury.address,
  kekId: treasury.kekId,
})
