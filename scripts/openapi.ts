import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createOpenApi, toJson } from '../api/docs/openapi.js'
import { endpoints } from '../api/routes.js'

const file = path.join('docs', 'openapi.json')

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const document = toJson(createOpenApi(endpoints))

if (values.check) await check()
else {
  await writeFile(file, document)
  console.log(`Wrote ${file}.`)
}

/** Fails when the file is not what the routes say now. */
async function check(): Promise<void> {
  const stored = await readFile(file, 'utf8').catch(() => '')
  if (stored === document) {
    console.log(`${file} is up to date.`)
    return
  }
  console.error(`${file} is not what the routes say. Run \`npm run openapi\` and commit the file.`)
  process.exitCode = 1
}
