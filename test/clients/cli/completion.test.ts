import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCliUser, type CliUser } from './program.js'

let user: CliUser
let script: string

beforeAll(async () => {
  user = createCliUser()
  const { code, stdout } = await user.run(['completion', 'bash'])
  expect(code).toBe(0)
  script = join(user.home, 'steward.bash')
  writeFileSync(script, stdout)
})
afterAll(() => user?.leave())

/** The completions that bash offers for the last of these words. */
function offered(...words: string[]): string[] {
  const typed = ['steward', ...words].map((word) => `'${word}'`).join(' ')
  const code = `source '${script}'; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _steward; echo "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', code], { encoding: 'utf8' }).trim().split(' ').filter(Boolean)
}

describe('steward completion bash', () => {
  test('bash registers the script for the program', () => {
    const code = `source '${script}' && complete -p steward`
    const shown = execFileSync('bash', ['-c', code], { encoding: 'utf8' })
    expect(shown.trim()).toBe('complete -o default -F _steward steward')
  })

  test('offers commands and subcommands', () => {
    expect(offered('int')).toEqual(['intents'])
    expect(offered('intents', 're')).toEqual(['retry'])
    expect(offered('intents', '')).toEqual(
      expect.arrayContaining(['lend', 'withdraw', 'bridge', 'preview', 'get', 'list', 'watch']),
    )
    expect(offered('trigger', 'intent.c')).toEqual(
      expect.arrayContaining(['intent.completed', 'intent.cancelled']),
    )
  })

  test('offers global and own options, and the values of an option', () => {
    expect(offered('intents', 'lend', 'alice', '5', '--opt')).toEqual(['--optimize'])
    expect(offered('intents', 'lend', '--json', '--optimize', '')).toEqual(['apy', 'net'])
    expect(offered('intents', 'list', '--status', 'f')).toEqual(['failed'])
    expect(offered('wallets', '--prof')).toEqual(['--profile'])
  })

  test('does not mistake the value of an option for a command', () => {
    expect(offered('--profile', 'wallets', 'intents', 'watc')).toEqual(['watch'])
    expect(offered('--profile', '')).toEqual([])
  })
})

describe('steward completion zsh', () => {
  test('zsh accepts the script, where zsh is installed', async () => {
    const { code, stdout } = await user.run(['completion', 'zsh'])
    expect([code, stdout.split('\n')[0]]).toEqual([0, '#compdef steward'])
    expect(stdout).toContain("'lend:lend at the best rate, or on one chain (5 credits)'")
    const file = join(user.home, '_steward')
    writeFileSync(file, stdout)
    const { status, error } = spawnSync('zsh', ['-n', file])
    // Without zsh on the machine the check is skipped.
    expect(error ? 0 : status).toBe(0)
  })

  test('error: other shells are not supported', async () => {
    const { code, stderr } = await user.run(['completion', 'fish'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('bash and zsh')])
  })
})
