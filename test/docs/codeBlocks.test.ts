import { describe, expect, test } from 'vitest'
import { readCodeBlocks, readShellBlocks, runShellBlocks } from './codeBlocks.js'

const fence = '```'
const page = `# First

${fence}sh
NAME=alice
echo one
${fence}

## Second

- A block in a list:

  ${fence}json
  {
    "a": 1
  }
  ${fence}

${fence}bash
# a comment, no heading
echo "$NAME"
${fence}
`

describe('readCodeBlocks', () => {
  test('returns language, code without indentation, line and heading of each block', () => {
    expect(readCodeBlocks(page)).toEqual([
      { language: 'sh', code: 'NAME=alice\necho one', line: 3, heading: 'First' },
      { language: 'json', code: '{\n  "a": 1\n}', line: 12, heading: 'Second' },
      {
        language: 'bash',
        code: '# a comment, no heading\necho "$NAME"',
        line: 18,
        heading: 'Second',
      },
    ])
  })

  test('error: a block without an end', () => {
    expect(() => readCodeBlocks(`text\n${fence}ts\nx`)).toThrow('line 2 has no end')
  })
})

describe('runShellBlocks', () => {
  test('runs the blocks in one shell and returns the output of each', async () => {
    expect(await runShellBlocks(readShellBlocks(page))).toEqual(['one\n', 'alice\n'])
  })

  test('error: a failed command stops the blocks after it', async () => {
    const failing = `${fence}sh\nfalse\n${fence}\n${fence}sh\necho after\n${fence}\n`
    await expect(runShellBlocks(readShellBlocks(failing))).rejects.toThrow('bash failed')
  })
})
