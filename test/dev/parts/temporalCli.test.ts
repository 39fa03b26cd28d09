import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { cachedFile, findTemporalCli } from '../../../dev/parts/temporalCli.js'

const fakeCli = '#!/bin/sh\necho temporal version 1.2.3\n'
/** `go build … -o <draft> …` that "builds" the fake program. */
const fakeGo = `#!/bin/sh
while [ "$1" != "-o" ]; do shift; done
printf '#!/bin/sh\\necho temporal version built\\n' > "$2"
`

let folder = ''
let env: NodeJS.ProcessEnv = {}
let server: Server | undefined

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true)
  folder = fs.mkdtempSync(path.join(tmpdir(), 'steward temporal '))
  for (const name of ['bin', 'module']) fs.mkdirSync(path.join(folder, name))
  fs.writeFileSync(path.join(folder, 'module/go.mod'), 'require github.com/temporalio/cli v9.9.9\n')
  fs.writeFileSync(path.join(folder, 'module/go.sum'), '')
  env = { PATH: path.join(folder, 'bin'), XDG_CACHE_HOME: path.join(folder, 'cache') }
})

afterEach(() => {
  jest.restoreAllMocks()
  server?.close()
  server = undefined
  fs.rmSync(folder, { recursive: true, force: true })
})

const moduleFolder = () => path.join(folder, 'module')

function writeProgram(file: string, text: string): string {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text, { mode: 0o755 })
  return file
}

/** Serves `body` at every path; the requested ones are recorded. */
async function serve(body: Buffer | undefined): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(body ? 200 : 404).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

function packArchive(): Buffer {
  const content = writeProgram(path.join(folder, 'archive/temporal'), fakeCli)
  const archive = path.join(folder, 'archive.tar.gz')
  execFileSync('tar', ['-czf', archive, '-C', path.dirname(content), 'temporal'])
  return fs.readFileSync(archive)
}

const find = (downloadUrl = 'http://127.0.0.1:1') =>
  findTemporalCli({ env, moduleFolder: moduleFolder(), downloadUrl })

describe('findTemporalCli', () => {
  test('takes the one on PATH first', async () => {
    const file = writeProgram(path.join(folder, 'bin/temporal'), fakeCli)
    writeProgram(cachedFile(env, moduleFolder()), fakeCli)
    expect(await find()).toEqual({ file, source: `on PATH (${file})` })
  })

  test('passes over one on PATH that does not run', async () => {
    writeProgram(path.join(folder, 'bin/temporal'), '#!/bin/sh\nexit 1\n')
    const file = writeProgram(cachedFile(env, moduleFolder()), fakeCli)
    expect(await find()).toEqual({ file, source: 'cached' })
  })

  test('downloads the pinned version and keeps it', async () => {
    const { url, asked } = await serve(packArchive())
    const file = cachedFile(env, moduleFolder())
    expect(await find(url)).toMatchObject({
      file,
      source: expect.stringContaining('downloaded v9.9.9'),
    })
    expect(asked).toEqual([expect.stringMatching(/^\/v9\.9\.9\?platform=.+&arch=.+/)])
    expect(await find(url)).toEqual({ file, source: 'cached' })
    expect(fs.readdirSync(path.dirname(file))).toEqual(['temporal'])
  })

  test('builds it when there is no download', async () => {
    writeProgram(path.join(folder, 'bin/go'), fakeGo)
    const { url } = await serve(undefined)
    const { file, source } = await find(url)
    expect(source).toContain('built v9.9.9')
    expect(execFileSync(file, { encoding: 'utf8' })).toContain('version built')
  })

  test('two starts build once', async () => {
    const log = path.join(folder, 'builds')
    writeProgram(path.join(folder, 'bin/go'), fakeGo.replace('\n', `\necho x >> "${log}"\n`))
    await Promise.all([find(), find()])
    expect(fs.readFileSync(log, 'utf8')).toBe('x\n')
  })

  test('error: says what to install when nothing can be had', async () => {
    await expect(find()).rejects.toThrow(/Go is not installed[^]*TEMPORAL_ADDRESS/)
    expect(fs.readdirSync(path.dirname(cachedFile(env, moduleFolder())))).toEqual([])
  })

  test('another pin is another file', () => {
    const before = cachedFile(env, moduleFolder())
    fs.appendFileSync(path.join(folder, 'module/go.sum'), 'changed')
    expect(cachedFile(env, moduleFolder())).not.toBe(before)
  })
})
