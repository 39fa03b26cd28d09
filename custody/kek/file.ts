import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { suite, type Kek } from '../seal.js'
import { ServiceError } from '../../domain/errors.js'

/** A key encryption key with its private key. Exists in the signer only. */
export type PrivateKek = Kek & { privateKey: CryptoKey }

/**
 * Reads the KEK from a file: the raw P-256 private key as 64 hex characters.
 *
 * @returns Undefined when the file does not exist.
 */
export async function readKek(file: string): Promise<PrivateKek | undefined> {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw new ServiceError(
      'MISCONFIGURED',
      'KEK_FILE is not readable. Check its path and permissions.',
      {},
      { cause: error },
    )
  }
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new ServiceError('MISCONFIGURED', 'KEK_FILE must contain 64 hex characters.')
  const privateKey = await importKey(text)
  return { ...(await publicHalf(privateKey)), privateKey }
}

async function importKey(hex: string): Promise<CryptoKey> {
  const raw = new Uint8Array(Buffer.from(hex, 'hex'))
  try {
    return await suite.kem.deserializePrivateKey(raw.buffer)
  } catch {
    // No cause: it might contain the key.
    throw new ServiceError('MISCONFIGURED', 'KEK_FILE does not contain a valid P-256 private key.')
  } finally {
    raw.fill(0)
  }
}

/**
 * Creates a KEK and writes it to a file that only its owner can read. Never overwrites a file. The key is flushed to disk
 * before anything is sealed to it: without the key the money of all wallets is lost.
 */
export async function createKek(file: string): Promise<PrivateKek> {
  const { privateKey } = await suite.kem.generateKeyPair()
  const raw = Buffer.from(await suite.kem.serializePrivateKey(privateKey))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${raw.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  flushFolder(dirname(file))
  raw.fill(0)
  return { ...(await publicHalf(privateKey)), privateKey }
}

/** A new file survives a power failure only when its folder is flushed too. */
function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

async function publicHalf(privateKey: CryptoKey): Promise<Kek> {
  const jwk = await crypto.subtle.exportKey('jwk', privateKey)
  const point = [jwk.x, jwk.y].map((part) => Buffer.from(part ?? '', 'base64url'))
  const publicKey = Buffer.concat([Buffer.from([4]), ...point])
  const id = `kek_${createHash('sha256').update(publicKey).digest('hex').slice(0, 16)}`
  return { id, publicKey }
}
