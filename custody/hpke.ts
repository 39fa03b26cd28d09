import { createCipheriv, createDecipheriv, createECDH, createHmac } from 'node:crypto'

/** Length of the encapsulated key that precedes the ciphertext, an uncompressed point of P-256. */
export const ENCAPSULATED_BYTES = 65

const KEM_P256_SHA256 = 0x0010
const KDF_SHA256 = 0x0001
const AEAD_AES256_GCM = 0x0002
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SHARED_SECRET_BYTES = 32

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const nothing = Buffer.alloc(0)

const kem = createKdf(Buffer.concat([Buffer.from('KEM'), uint16(KEM_P256_SHA256)]))
const hpke = createKdf(
  Buffer.concat([
    Buffer.from('HPKE'),
    ...[KEM_P256_SHA256, KDF_SHA256, AEAD_AES256_GCM].map(uint16),
  ]),
)

/** Constant for all messages: mode base, sequence number 0, no pre-shared key, no info. */
const keyScheduleContext = Buffer.concat([
  Buffer.from([0]),
  hpke.extract('psk_id_hash', nothing),
  hpke.extract('info_hash', nothing),
])

/**
 * Seals one message with HPKE: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, mode base, no info. It uses Node's
 * own primitives: WebCrypto moves each of a dozen steps to another thread and takes twenty times as long.
 *
 * @param publicKey - Public key of the recipient, an uncompressed point of P-256 (65 bytes).
 * @returns The encapsulated key (65 bytes), the ciphertext, and its tag (16 bytes).
 * @throws {Error} when the public key is not a point of the curve.
 * @see https://www.rfc-editor.org/rfc/rfc9180
 */
export function sealTo(
  publicKey: Uint8Array,
  message: Uint8Array,
  associatedData: Uint8Array,
): Buffer {
  const ephemeral = createECDH('prime256v1')
  const encapsulated = ephemeral.generateKeys()
  const agreed = ephemeral.computeSecret(publicKey)
  const { key, nonce } = scheduleKey(agreed, Buffer.concat([encapsulated, publicKey]))
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associatedData)
  const sealed = [encapsulated, cipher.update(message), cipher.final(), cipher.getAuthTag()]
  key.fill(0)
  return Buffer.concat(sealed)
}

/** A recipient's key pair. The public key is an uncompressed point. */
export type Recipient = { privateKey: CryptoKey; publicKey: Uint8Array }

/**
 * Opens a message that was sealed by `sealTo`.
 *
 * @throws {Error} when it was sealed to another key or with other associated data, or was altered.
 */
export async function openSealed(
  { privateKey, publicKey }: Recipient,
  sealed: Uint8Array,
  associatedData: Uint8Array,
): Promise<Buffer> {
  const encapsulated = sealed.subarray(0, ENCAPSULATED_BYTES)
  const agreed = await agree(privateKey, encapsulated)
  const { key, nonce } = scheduleKey(agreed, Buffer.concat([encapsulated, publicKey]))
  const options = { authTagLength: TAG_BYTES }
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, options).setAAD(associatedData)
  key.fill(0)
  decipher.setAuthTag(sealed.subarray(ENCAPSULATED_BYTES).subarray(-TAG_BYTES))
  const message = decipher.update(sealed.subarray(ENCAPSULATED_BYTES, -TAG_BYTES))
  try {
    decipher.final()
    return message
  } catch (error) {
    message.fill(0)
    throw error
  }
}

/** @throws {Error} when the encapsulated key is not an uncompressed point of the curve. */
async function agree(privateKey: CryptoKey, encapsulated: Uint8Array): Promise<Buffer> {
  const { subtle } = crypto
  const curve = { name: 'ECDH', namedCurve: 'P-256' }
  const point = new Uint8Array(encapsulated)
  const theirs = await subtle.importKey('raw', point, curve, false, [])
  return Buffer.from(await subtle.deriveBits({ name: 'ECDH', public: theirs }, privateKey, 256))
}

/** Key and nonce of the first and only message of a context. */
function scheduleKey(agreed: Buffer, kemContext: Buffer): { key: Buffer; nonce: Buffer } {
  const eaePrk = kem.extract('eae_prk', agreed)
  const shared = kem.expand('shared_secret', eaePrk, {
    info: kemContext,
    length: SHARED_SECRET_BYTES,
  })
  const secret = hpke.extract('secret', nothing, shared)
  const info = keyScheduleContext
  const key = hpke.expand('key', secret, { info, length: KEY_BYTES })
  const nonce = hpke.expand('base_nonce', secret, { info, length: NONCE_BYTES })
  for (const bytes of [agreed, eaePrk, shared, secret]) bytes.fill(0)
  return { key, nonce }
}

/** LabeledExtract and LabeledExpand of one suite. One round of expansion suffices: no output exceeds a hash (32 bytes). */
function createKdf(suiteId: Buffer) {
  const hmac = (key: Buffer, parts: (Buffer | string)[]) => {
    const mac = createHmac('sha256', key)
    for (const part of parts) mac.update(part)
    return mac.digest()
  }
  return {
    extract: (label: string, key: Buffer, salt = nothing): Buffer =>
      hmac(salt, ['HPKE-v1', suiteId, label, key]),
    expand: (label: string, secret: Buffer, { info, length }: { info: Buffer; length: number }) =>
      hmac(secret, [uint16(length), 'HPKE-v1', suiteId, label, info, Buffer.from([1])]).subarray(
        0,
        length,
      ),
  }
}
