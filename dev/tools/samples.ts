import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findPages, renderSamples } from './sampleBlocks.js'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const root = path.resolve(fileURLToPath(import.meta.url), '../../..')
const read = (file: string) => readFile(path.join(root, file), 'utf8')

for (const page of await findPages(root)) {
  const stored = await read(page)
  const rendered = await renderSamples(stored, read)
  if (rendered === stored) console.log(`${page} is up to date.`)
  else if (values.check) {
    console.error(`${page} has outdated samples. Run \`npm run samples\`.`)
    process.exitCode = 1
  } else {
    await writeFile(path.join(root, page), rendered)
    console.log(`Wrote ${page}.`)
  }
}
