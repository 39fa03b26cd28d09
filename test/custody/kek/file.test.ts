import { describe, expect, test } from 'vitest'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKek, readKek } from '../../../custody/kek/file.js'
import { openAccount } from '../../../custody/open.js'
import { createSealedAccount } from '../../../custody/account.js'
import { inFolder } from './kekFile.js'

const owner = { purpose: 'sender', owner: '1/0x', accountId: '' } as const

function refused(content: string | undefined, message: string) {
  return inFolder(async (folder) => {
    const file = join(folder, 'kek')
    if (content === undefined) mkdirSync(file)
    else writeFileSync(file, content)
    const refusal = (await readKek(file).catch((error: unknown) => error)) as Error
    expect(refusal).toMatchObject({ code: 'MISCONFIGURED', message })
    if (content) expect(`${refusal.message}${String(refusal.cause)}`).not.toContain(content.trim())
  })
}

describe('createKek', () => {
  test('writes 64 hex characters that only the owner can read', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'deep', 'kek')
      await createKek(file)
      expect(readFileSync(file, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }))

  test('never overwrites a file', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'kek')
      await createKek(file)
      const before = readFileSync(file, 'utf8')
      await expect(createKek(file)).rejects.toThrow('EEXIST')
      expect(readFileSync(file, 'utf8')).toBe(before)
    }))
})

describe('readKek', () => {
  test('reads the key that createKek wrote', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'kek')
      const made = await createKek(file)
      const { address, sealed } = createSealedAccount(made, () => owner)
      const read = await readKek(file)
      if (!read) throw new Error('There is no KEK.')
      expect(read).toMatchObject({ id: made.id, publicKey: made.publicKey })
      const account = await openAccount(read, sealed, { ...owner, address, kekId: made.id })
      expect(account.address).toBe(address)
    }))

  test('returns undefined when the file does not exist', () =>
    inFolder(async (folder) => {
      expect(await readKek(join(folder, 'none'))).toBeUndefined()
    }))

  test('error: MISCONFIGURED when the file cannot be read', () =>
    refused(undefined, 'KEK_FILE is not readable. Check its path and permissions.'))

  test.each(['', 'a'.repeat(63), 'a'.repeat(65), 'G'.repeat(64), `0x${'a'.repeat(62)}`])(
    'error: MISCONFIGURED for %j',
    (content) => refused(content, 'KEK_FILE must contain 64 hex characters.'),
  )

  test.each(['0'.repeat(64), 'f'.repeat(64)])('error: MISCONFIGURED for the number %s', (content) =>
    refused(content, 'KEK_FILE does not contain a valid P-256 private key.'),
  )
})
