import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startWorld, type ApiWorld } from '../api/api.js'

/** The packages as users install them, in a folder outside the repository, on each supported runtime. */
const root = fileURLToPath(new URL('../..', import.meta.url))

// Package indexes take seconds, or minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const execute = promisify(execFile)
let world: ApiWorld
let folder: string
let env: NodeJS.ProcessEnv

const run = async (program: string, ...args: string[]): Promise<string> =>
  (await execute(program, args, { cwd: folder, env })).stdout.trim()

beforeAll(async () => {
  world = await startWorld()
  folder = await mkdtemp(path.join(tmpdir(), 'steward-installed-'))
  const service = {
    STEWARD_API_KEY: await world.newKey(),
    STEWARD_BASE_URL: `${world.api.url}/v1`,
    XDG_CONFIG_HOME: folder,
  }
  env = { ...process.env, ...service, NODE_OPTIONS: '', NO_COLOR: '1', PYTHONPATH: '' }
})
afterAll(async () => {
  await world?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Reports why a runtime is not tested. In CI every runtime is required. */
function skipped(what: string, error: unknown): undefined {
  if (process.env.CI === 'true') throw error
  console.warn(`Skipped: ${what} is not available. ${String(error).split('\n')[0]}`)
  return undefined
}

describe('npm pack of @steward/sdk and @steward/cli, installed', () => {
  const script = (load: string) => `${load}
const steward = new Steward()
steward.wallets.create({ userId: 'node' }).then(({ userId }) => console.log(userId))
`

  beforeAll(async () => {
    const workspaces = ['--workspace', '@steward/sdk', '--workspace', '@steward/cli']
    const pack = ['pack', ...workspaces, '--pack-destination', folder]
    await execute('npm', pack, { cwd: root })
    await writeFile(path.join(folder, 'package.json'), '{ "private": true }')
    const packed = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
    await run('npm', 'install', ...packed.map((name) => `./${name}`))
    await writeFile(path.join(folder, 'a.mjs'), script("import { Steward } from '@steward/sdk'"))
    const required = script("const { Steward } = require('@steward/sdk')")
    await writeFile(path.join(folder, 'a.cjs'), required)
  })

  /** @returns Path of the program: this one, or that of a package of the registry. */
  async function findNode(version: string): Promise<string | undefined> {
    if (process.versions.node.startsWith(`${version}.`)) return process.execPath
    const name = `node-${process.platform}-${process.arch}`
    const place = path.join(folder, `node-${version}`)
    try {
      await run('npm', 'install', '--ignore-scripts', '--prefix', place, `${name}@${version}`)
      const program = path.join(place, 'node_modules', name, 'bin', 'node')
      await run(program, '--version')
      return program
    } catch (error) {
      return skipped(`Node ${version}`, error)
    }
  }

  test.each(['20', '22', '24'])('are used by programs on Node %s', async (version) => {
    const node = await findNode(version)
    if (node === undefined) return
    expect(await run(node, '--version')).toMatch(new RegExp(`^v${version}\\.`))
    expect(await run(node, 'a.mjs')).toBe('node')
    expect(await run(node, 'a.cjs')).toBe('node')
    const cli = path.join(folder, 'node_modules', '.bin', 'steward')
    expect(await run(node, cli, '--version')).toMatch(/^\d+\.\d+\.\d+$/)
    expect(await run(node, cli, 'wallets', 'list', '--json')).toContain('"userId"')
  })
})

describe('the wheel and the source of steward-sdk, installed', () => {
  let dist: string
  let files: string[] | undefined

  const pythonOf = (venv: string) => path.join(venv, 'bin', 'python')
  async function createVenv(python: string, venv: string, ...requirements: string[]) {
    await run(python, '-m', 'venv', venv)
    await run(pythonOf(venv), '-m', 'pip', '--quiet', 'install', ...requirements)
  }

  beforeAll(async () => {
    // A build writes into its source folder.
    const source = path.join(folder, 'source')
    await cp(path.join(root, 'clients', 'python'), source, { recursive: true })
    dist = path.join(folder, 'dist')
    const builder = path.join(folder, 'builder')
    try {
      await createVenv('python3', builder, 'build')
      await run(pythonOf(builder), '-m', 'build', '--outdir', dist, source)
      files = (await readdir(dist)).sort()
    } catch (error) {
      skipped('Python with pip and a package index', error)
    }
  })

  /** @returns Path of the program: of pyenv, or in the path. */
  async function findPython(version: string): Promise<string | undefined> {
    const pyenv = path.join(process.env.PYENV_ROOT ?? path.join(homedir(), '.pyenv'), 'versions')
    const names = await readdir(pyenv).catch((): string[] => [])
    const own = names.filter((name) => name.startsWith(`${version}.`))
    const places = own.map((name) => path.join(pyenv, name, 'bin', 'python'))
    for (const program of [...places, `python${version}`]) {
      const printed = await run(program, '--version').catch(() => '')
      if (printed.startsWith(`Python ${version}.`)) return program
    }
    return skipped(`Python ${version}`, new Error('Neither the path nor pyenv has it.'))
  }

  test.each(['3.10', '3.11', '3.12', '3.13'])(
    'are used by a program on Python %s',
    async (version) => {
      const python = files && (await findPython(version))
      if (python === undefined) return
      expect(files?.map((name) => path.extname(name))).toEqual(['.whl', '.gz'])
      for (const file of files ?? []) {
        const venv = path.join(folder, `python-${version}${path.extname(file)}`)
        await createVenv(python, venv, path.join(dist, file))
        const program = 'from steward import Steward; print(Steward().wallets.create("py").user_id)'
        expect(await run(pythonOf(venv), '-c', program)).toBe('py')
      }
    },
  )
})
