import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'

/** The output of `npm pack`, installed in another project. */
const root = fileURLToPath(new URL('../../..', import.meta.url))
const sdk = join(root, 'clients', 'typescript')
const LARGEST_GZIPPED = 12_000

// Compilers and npm take seconds, or minutes on a busy machine.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let folder: string
let tarball: string
let installed: string

const execute = promisify(execFile)
/** Runs a program. Its error contains the output. */
async function run(program: string, args: string[], cwd = folder): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' }
  const { stdout } = await execute(program, args, { cwd, env }).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`)
  })
  return stdout
}
const runPackage = (file: string, ...args: string[]) =>
  run(process.execPath, [join(root, 'node_modules', file), ...args])

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steward-sdk-'))
  await run('npm', ['pack', '--pack-destination', folder], sdk)
  const names = await readdir(folder)
  tarball = join(folder, names.find((name) => name.endsWith('.tgz')) ?? '')
  installed = join(folder, 'node_modules', '@steward', 'sdk')
  await mkdir(installed, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  const types = join(folder, 'node_modules', '@types')
  await mkdir(types)
  await symlink(join(root, 'node_modules', '@types', 'node'), join(types, 'node'))
  const undici = join(root, 'node_modules', 'undici-types')
  await symlink(undici, join(folder, 'node_modules', 'undici-types'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const sample = (imports: string) => `${imports}
const steward = new Steward({ apiKey: 'svc_sk_1', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })

export async function save(userId: string): Promise<string> {
  const wallet = await steward.wallets.create({ userId })
  const intent = await steward.intents.lend({ walletId: wallet.id, amount: '0.5' })
  const { funds = [] } = await steward.intents.waitForCompletion(intent.id, {
    onEvent: ({ type, data }) => { console.log(type, data.txHash) },
  })
  for await (const { id } of steward.intents.list({ status: 'completed' })) console.log(id)
  // @ts-expect-error A withdrawal requires a chain.
  const nowhere = () => steward.intents.withdraw({ walletId: wallet.id, amount: 'max' })
  return JSON.stringify([funds, nowhere])
}

save('alice').catch((error: unknown) => {
  if (error instanceof InsufficientFundsError) console.log(error.details.available)
  if (error instanceof ConnectionError) console.log(error.code, Steward.webhooks.verify.name)
})
`
const names = '{ ConnectionError, InsufficientFundsError, Steward }'

describe('the package @steward/sdk', () => {
  test('contains only the build, its licence and its README', async () => {
    const listed = (await run('tar', ['-tzf', tarball])).trim().split('\n').sort()
    const others = listed.filter((file) => !/^package\/dist\/(esm|cjs)\/.*\.(js|d\.ts)$/.test(file))
    expect(others).toEqual([
      'package/LICENSE',
      'package/README.md',
      'package/dist/cjs/package.json',
      'package/package.json',
    ])
    expect(listed).toContain('package/dist/esm/index.js')
    expect(listed).toContain('package/dist/cjs/index.d.ts')
  })

  test('has no dependencies and imports nothing of Node', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as object
    expect(manifest).not.toHaveProperty('dependencies')
    const code = await readAll(join(installed, 'dist', 'esm'))
    expect(code).not.toMatch(/node:|require\(|from ["'][^.]/)
  })

  test(`weighs at most ${LARGEST_GZIPPED} bytes gzipped`, async () => {
    for (const kind of ['esm', 'cjs']) {
      const { length } = gzipSync(await readAll(join(installed, 'dist', kind)), { level: 9 })
      console.log(`${kind}: ${length} bytes gzipped`)
      expect(length).toBeLessThanOrEqual(LARGEST_GZIPPED)
    }
  })

  test.each([
    ['ES modules and CommonJS', ['sample.mts', 'sample.cts'], ['--module', 'nodenext']],
    ['a bundler', ['sample.ts'], ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ])('compiles and runs in a project of %s', async (_kind, files, module) => {
    const code = sample(`import ${names} from '@steward/sdk'`)
    for (const file of files) await writeFile(join(folder, file), code)
    await runPackage('typescript/bin/tsc', ...files, ...options, ...module)
    for (const file of files) {
      const output = join(folder, 'out', file.replace(/ts$/, 'js'))
      expect((await run(process.execPath, [output])).trim()).toBe('CONNECTION verifyWebhook')
    }
  })

  test('publint and attw report no problem', async () => {
    await runPackage('publint/src/cli.js', 'run', tarball, '--strict')
    const printed = await runPackage('@arethetypeswrong/cli/dist/index.js', tarball)
    expect(printed).toContain('No problems found')
  })
})

const options = [
  ...['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...['--target', 'es2022', '--types', 'node', '--outDir', 'out'],
]

async function readAll(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true })
  const scripts = files.filter((file) => file.endsWith('.js')).sort()
  const texts = scripts.map((file) => readFile(join(directory, file), 'utf8'))
  return (await Promise.all(texts)).join('')
}
