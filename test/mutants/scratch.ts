import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A copy of the tree to which patches can be applied. */
export type Scratch = {
  path: string
  /** False when the patch does not apply. The copy is then unchanged. */
  apply(patch: string): boolean
  /** Reverts an applied patch. */
  revert(patch: string): void
  remove(): void
}

/**
 * Copies the working tree, uncommitted files included and ignored files excluded. The packages are hard links,
 * because they are many and not edited.
 */
export function createScratch(root: string): Scratch {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'steward-mutant-')))
  const git = (...args: string[]) => runGit(path, args)
  try {
    // Root runs the database server under another account, which must reach its programs in here.
    chmodSync(path, 0o711)
    for (const file of listFiles(root)) copyFile(join(root, file), join(path, file))
    linkPackages(join(root, 'node_modules'), join(path, 'node_modules'))
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    throw error
  }
  return {
    path,
    apply(patch) {
      try {
        git('apply', '--whitespace=nowarn', patch)
        return true
      } catch {
        return false
      }
    },
    revert: (patch) => git('apply', '--whitespace=nowarn', '--reverse', patch),
    remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  }
}

function listFiles(root: string): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 100_000_000 } as const
  const files = execFileSync('git', args, options).split('\0')
  return files.filter((file) => file && existsSync(join(root, file)))
}

function linkPackages(from: string, to: string): void {
  if (lstatSync(from).isSymbolicLink()) symlinkSync(realpathSync(from), to)
  else linkFolder(from, to)
}

function linkFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkFolder(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else linkFile(source, target)
  }
}

function linkFile(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    // Another disk, or a file of another owner.
    copyFileSync(from, to)
  }
}

function copyFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

/** Outside of any repository, so that git ignores surrounding ones. */
function runGit(path: string, args: string[]): void {
  const env: NodeJS.ProcessEnv = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(path) }
  for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']) delete env[name]
  execFileSync('git', args, { cwd: path, env, stdio: 'pipe' })
}
