import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { format } from 'prettier'
import { createCliPage } from './cli.js'
import { createConfigurationPage } from './configuration.js'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const folder = path.join('docs', 'reference')
/** Pages that are generated from the code. */
const pages: [name: string, text: string][] = [
  ['cli.md', createCliPage()],
  ['configuration.md', createConfigurationPage()],
]
for (const [name, text] of pages) {
  const file = path.join(folder, name)
  const content = await format(text, { parser: 'markdown' })
  if (values.check) await check(file, content)
  else {
    await writeFile(file, content)
    console.log(`Wrote ${file}.`)
  }
}

/** Fails when the file differs from what the code generates. */
async function check(file: string, content: string): Promise<void> {
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (stored === content) {
    console.log(`${file} is up to date.`)
    return
  }
  console.error(`${file} differs from the code. Run \`npm run reference\` and commit the file.`)
  process.exitCode = 1
}
