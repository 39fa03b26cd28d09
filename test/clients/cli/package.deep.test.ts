import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const source = join(root, 'clients/cli/src')
let folder: string
let packed: string[]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'steward pack '))
  const args = ['pack', '--workspace', 'clients/cli', '--json', '--pack-destination', folder]
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  const json = output.slice(output.indexOf('[\n'))
  const [tarball] = JSON.parse(json) as {
    filename: string
    size: number
    files: { path: string }[]
  }[]
  if (!tarball) throw new Error(output)
  packed = tarball.files.map(({ path }) => path).sort()
  const home = join(folder, 'node_modules/@steward/cli')
  mkdirSync(home, { recursive: true })
  const unpack = ['-xzf', join(folder, tarball.filename), '--strip-components=1', '-C', home]
  execFileSync('tar', unpack)
  for (const name of ['commander', 'picocolors']) {
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  placeSdk(join(folder, 'node_modules/@steward/sdk'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Installs the SDK: its package.json, and compiled JavaScript in the folder that package.json names. */
function placeSdk(home: string): void {
  const sdk = join(root, 'clients/typescript')
  mkdirSync(home, { recursive: true })
  cpSync(join(sdk, 'package.json'), join(home, 'package.json'))
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  const files = readdirSync(join(sdk, 'src'), { recursive: true, encoding: 'utf8' })
  for (const file of files.filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(join(sdk, 'src', file), 'utf8')
    const target = join(home, 'dist/esm', file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, ts.transpileModule(text, { compilerOptions }).outputText)
  }
}

describe('npm pack --workspace @steward/cli', () => {
  test('contains only the program, its README and licence', () => {
    const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
    const built = sources.filter((file) => file.endsWith('.ts'))
    const dist = built.map((file) => `dist/${file.replace(/\.ts$/, '.js')}`)
    expect(packed).toEqual(['LICENSE', 'README.md', 'package.json', ...dist].sort())
  })

  test('the unpacked program runs without the sources', () => {
    const home = join(folder, 'node_modules/@steward/cli')
    const { bin, version, dependencies } = JSON.parse(
      readFileSync(join(home, 'package.json'), 'utf8'),
    ) as { bin: { steward: string }; version: string; dependencies: object }
    expect(Object.keys(dependencies)).toEqual(['@steward/sdk', 'commander', 'picocolors'])
    const program = join(home, bin.steward)
    expect(readFileSync(program, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node')
    const run = (...args: string[]) =>
      execFileSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' })
    expect(run('--version').trim()).toBe(version)
    expect(run('trigger')).toContain('intent.completed')
  })
})
