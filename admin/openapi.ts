import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createErrorsMarkdown } from '../api/docs/errors.js'
import { createLlmsText } from '../api/docs/llms.js'
import { createOpenApi, toJson } from '../api/docs/openapi.js'
import { readContents } from '../api/docs/pages/contents.js'
import { createPostmanCollection } from '../api/docs/postman.js'
import { endpoints } from '../api/routes.js'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const document = createOpenApi(endpoints)
/** The documents that are generated from the routes and the catalogs. */
const documents: [file: string, content: string][] = [
  [path.join('docs', 'reference', 'openapi.json'), toJson(document)],
  [
    path.join('docs', 'reference', 'steward.postman_collection.json'),
    toJson(createPostmanCollection(document)),
  ],
  [path.join('docs', 'llms.txt'), createLlmsText(endpoints, readContents('docs'))],
  [path.join('docs', 'reference', 'errors.md'), createErrorsMarkdown(endpoints)],
]
for (const [file, content] of documents) await (values.check ? check : write)(file, content)

async function write(file: string, content: string): Promise<void> {
  await writeFile(file, content)
  console.log(`Wrote ${file}.`)
}

/** Fails when the file is outdated. */
async function check(file: string, content: string): Promise<void> {
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (stored === content) {
    console.log(`${file} is up to date.`)
    return
  }
  console.error(`${file} is outdated. Run \`npm run openapi\` and commit the file.`)
  process.exitCode = 1
}
