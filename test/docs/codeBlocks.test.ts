import { describe, expect, test } from 'vitest'
import { readShellBlocks, runShellBlocks } from './codeBlocks.js'

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

describe('runShellBlocks', () => {
  test('runs the blocks in one shell and returns the output of each', async () => {
    expect(await runShellBlocks(readShellBlocks(page))).toEqual(['one\n', 'alice\n'])
  })

  test('error: a failed command stops the blocks after it', async () => {
    const failing = `${fence}sh\nfalse\n${fence}\n${fence}sh\necho after\n${fence}\n`
    await expect(runShellBlocks(readShellBlocks(failing))).rejects.toThrow('bash failed')
  })
})
