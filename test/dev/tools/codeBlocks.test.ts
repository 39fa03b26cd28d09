import { describe, expect, test } from 'vitest'
import { readCodeBlocks } from '../../../dev/tools/codeBlocks.js'

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
      { language: 'sh', code: 'NAME=alice\necho one', line: 3, end: 6, heading: 'First' },
      { language: 'json', code: '{\n  "a": 1\n}', line: 12, end: 16, heading: 'Second' },
      {
        language: 'bash',
        code: '# a comment, no heading\necho "$NAME"',
        line: 18,
        end: 21,
        heading: 'Second',
      },
    ])
  })

  test('error: a block without an end', () => {
    expect(() => readCodeBlocks(`text\n${fence}ts\nx`)).toThrow('line 2 has no end')
  })
})
