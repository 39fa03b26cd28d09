import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findTemporalPrograms } from '../../../dev/stack/temporalPrograms.js'

/** A fake `go build … -o <folder>/ …` that creates both programs and records its arguments. */
const fakeGo = (log: string) => `#!/bin/sh
echo "$GOFLAGS $*" >> "${log}"
while [ "$1" != "-o" ]; do shift; done
for name in server sql; do
  printf '#!/bin/sh\\necho %s\\n' "$name" > "$2$name"
  chmod +x "$2$name"
done
`

let folder = ''
let env: NodeJS.ProcessEnv = {}

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  folder = fs.mkdtempSync(path.join(tmpdir(), 'steward programs '))
  for (const name of ['bin', 'module']) fs.mkdirSync(path.join(folder, name))
  pinServer('9.9.9')
  const PATH = `${path.join(folder, 'bin')}:/usr/bin:/bin`
  env = { PATH, XDG_CACHE_HOME: path.join(folder, 'cache'), GOFLAGS: '-p=1' }
})

afterEach(() => {
  vi.restoreAllMocks()
  fs.rmSync(folder, { recursive: true, force: true })
})

const pinServer = (version: string) =>
  fs.writeFileSync(
    path.join(folder, 'module/go.mod'),
    `require go.temporal.io/server v${version}\n`,
  )
const log = () => path.join(folder, 'builds')
const readBuilds = () => fs.readFileSync(log(), 'utf8').trim().split('\n')
const offerGo = (text: string) =>
  fs.writeFileSync(path.join(folder, 'bin/go'), text, { mode: 0o755 })
const find = () => findTemporalPrograms({ env, moduleFolder: path.join(folder, 'module') })
const cached = () => fs.readdirSync(path.join(folder, 'cache/steward'))

describe('findTemporalPrograms', () => {
  test('builds both, keeps them under the names of the images, and does not build again', async () => {
    offerGo(fakeGo(log()))
    const programs = await find()
    expect(await find()).toEqual(programs)
    expect(fs.readdirSync(programs.folder).sort()).toEqual(['temporal-server', 'temporal-sql-tool'])
    expect(execFileSync(programs.server, { encoding: 'utf8' })).toBe('server\n')
    expect(readBuilds()).toHaveLength(1)
    expect(readBuilds()[0]).toMatch(
      /^-p=1 build .*-buildvcs=false .*cmd\/server .*cmd\/tools\/sql$/,
    )
  })

  test('two concurrent starts each find both programs', async () => {
    offerGo(fakeGo(log()))
    const [one, other] = await Promise.all([find(), find()])
    expect(other).toEqual(one)
    expect(fs.readdirSync(one.folder)).toHaveLength(2)
    expect(cached()).toEqual([path.basename(one.folder)])
  })

  test('error: a build that fails half-way leaves no program, and the next one is complete', async () => {
    offerGo(`${fakeGo(log())}exit 1\n`)
    await expect(find()).rejects.toThrow(/could not be built[^]*TEMPORAL_ADDRESS/)
    expect(cached()).toEqual([])
    offerGo(fakeGo(log()))
    const { folder: whole } = await find()
    expect(fs.readdirSync(whole)).toHaveLength(2)
  })

  test('the files of a killed build are not used', async () => {
    offerGo(fakeGo(log()))
    const { folder: whole } = await find()
    fs.renameSync(whole, `${whole}.killed`)
    expect(await find()).toMatchObject({ folder: whole })
    expect(readBuilds()).toHaveLength(2)
  })

  test('another version has another folder', async () => {
    offerGo(fakeGo(log()))
    const { folder: before } = await find()
    pinServer('9.9.10')
    expect((await find()).folder).not.toBe(before)
  })
})
