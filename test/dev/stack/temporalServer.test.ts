import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createTemporalPart } from '../../../dev/stack/temporalServer.js'
import { findFreePorts } from '../../../dev/ports.js'
import { makeFolders, openHome } from '../../../dev/state/state.js'
import { searchAttributeTypes } from '../../../workflows/client/searchAttributes.js'
import { joinTemporal } from '../../support/temporal/joinTemporal.js'

test('a fresh server knows the search attributes', async () => {
  const { client, namespace } = await joinTemporal()
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
    namespace,
  })
  await client.connection.close()
  expect(customAttributes).toEqual(searchAttributeTypes)
})

test('garbage collection settings of the operator override the defaults', async () => {
  delete process.env.GOMEMLIMIT
  process.env.GOGC = '50'
  expect(await readGarbage()).toEqual({ GOGC: '50', GOMEMLIMIT: '1GiB' })
  delete process.env.GOGC
  expect(await readGarbage()).toEqual({ GOGC: '400', GOMEMLIMIT: '1GiB' })
})

/** A fake command line that answers at the UI's address with its garbage collection settings. */
const fakeCli = `#!${process.execPath}
const { argv, env: { GOGC, GOMEMLIMIT } } = process
require('node:http')
  .createServer((_, response) => response.end(JSON.stringify({ GOGC, GOMEMLIMIT })))
  .listen(Number(argv[argv.indexOf('--ui-port') + 1]), '127.0.0.1')
`

/** The garbage collection settings of a new dev server. */
async function readGarbage(): Promise<unknown> {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'steward-temporal-'))
  const file = path.join(folder, 'cli')
  fs.writeFileSync(file, fakeCli, { mode: 0o755 })
  const home = openHome({ STEWARD_HOME: folder })
  makeFolders(home)
  const [ui = 0] = await findFreePorts(1)
  const part = createTemporalPart({ file, source: 'a test' }, home, { temporal: 0, ui })
  const running = await part.start({ onSpawn: () => undefined, onExit: () => undefined })
  try {
    return await (await fetch(`http://127.0.0.1:${ui}`)).json()
  } finally {
    await running.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
