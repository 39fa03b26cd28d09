import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPerson, type Person } from './program.js'

let person: Person
let script: string

beforeAll(async () => {
  person = createPerson()
  const { code, stdout } = await person.run(['completion', 'bash'])
  expect(code).toBe(0)
  script = join(person.home, 'steward.bash')
  writeFileSync(script, stdout)
})
afterAll(() => person?.leave())

/** What bash offers for the last of these words. */
function offered(...words: string[]): string[] {
  const typed = ['steward', ...words].map((word) => `'${word}'`).join(' ')
  const code = `source '${script}'; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _steward; echo "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', code], { encoding: 'utf8' }).trim().split(' ').filter(Boolean)
}

describe('steward completion bash', () => {
  test('is taken by bash for the program', () => {
    const code = `source '${script}' && complete -p steward`
    const shown = execFileSync('bash', ['-c', code], { encoding: 'utf8' })
    expect(shown.trim()).toBe('complete -o default -F _steward steward')
  })

  test('offers commands, and those below them', () => {
    expect(offered('int')).toEqual(['intents'])
    expect(offered('intents', 're')).toEqual(['retry'])
    expect(offered('intents', '')).toEqual(
      expect.arrayContaining(['lend', 'withdraw', 'bridge', 'preview', 'get', 'list', 'watch']),
    )
    expect(offered('trigger', 'intent.c')).toEqual(
      expect.arrayContaining(['intent.completed', 'intent.cancelled']),
    )
  })

  test('offers options of the command and of all, and the values that an option takes', () => {
    expect(offered('intents', 'lend', 'alice', '5', '--opt')).toEqual(['--optimize'])
    expect(offered('intents', 'lend', '--json', '--optimize', '')).toEqual(['apy', 'net'])
    expect(offered('intents', 'list', '--status', 'f')).toEqual(['failed'])
    expect(offered('wallets', '--prof')).toEqual(['--profile'])
  })

  test('takes the value of an option for no command', () => {
    expect(offered('--profile', 'wallets', 'intents', 'watc')).toEqual(['watch'])
    expect(offered('--profile', '')).toEqual([])
  })
})

describe('steward completion zsh', () => {
  test('is a script that zsh accepts, where there is one', async () => {
    const { code, stdout } = await person.run(['completion', 'zsh'])
    expect([code, stdout.split('\n')[0]]).toEqual([0, '#compdef steward'])
    expect(stdout).toContain("'lend:lend where it pays most, or on one chain (5 credits)'")
    const file = join(person.home, '_steward')
    writeFileSync(file, stdout)
    const { status, error } = spawnSync('zsh', ['-n', file])
    // A machine without zsh has nobody to ask.
    expect(error ? 0 : status).toBe(0)
  })

  test('there is none for other shells', async () => {
    const { code, stderr } = await person.run(['completion', 'fish'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('bash and zsh')])
  })
})
