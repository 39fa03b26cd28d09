import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { rootFolder } from '../state/state.js'

const sourceFolder = path.join(rootFolder, 'clients/dashboard')
/** The folder that the API serves by default. */
const outputFolder = path.join(sourceFolder, 'dist')
const draftFolder = path.join(rootFolder, 'node_modules/.cache/steward/dashboard')
/** Holds the digest of the sources of the build. */
const STAMP = '.built'

const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)

/** Text files, which are worth compressing. */
const packed = /\.(js|css|svg|html)$/

/**
 * Builds the dashboard in a separate process, so that this one stays responsive.
 *
 * @returns True when it was built, false when the existing build is current.
 */
export async function buildBeside(): Promise<boolean> {
  if (readStamp() === digestSources()) return false
  const script = path.join(rootFolder, 'dev/buildWeb.ts')
  await promisify(execFile)(process.execPath, ['--import', 'tsx', script])
  return true
}

/**
 * Builds the dashboard to `clients/dashboard/dist`, unless the existing build has the same sources.
 *
 * @returns True when it was built.
 */
export async function buildDashboard(): Promise<boolean> {
  const digest = digestSources()
  if (readStamp() === digest) return false
  // Fixed, because React includes its development checks for any other value.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  // Beside the old build, which is still served. Two instances may build at once.
  const draft = path.join(draftFolder, String(process.pid))
  const configFile = path.join(sourceFolder, 'vite.config.ts')
  await build({ configFile, logLevel: 'error', build: { outDir: draft } })
  await packAll(draft)
  fs.writeFileSync(path.join(draft, STAMP), digest)
  replaceFolder(draft, outputFolder)
  return true
}

const readStamp = () => {
  const stamp = path.join(outputFolder, STAMP)
  return fs.existsSync(stamp) ? fs.readFileSync(stamp, 'utf8') : undefined
}

/** Packages count by their exact versions in `package.json`. */
function digestSources(): string {
  const hash = createHash('sha256')
  for (const file of findSources('')) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(sourceFolder, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

function findSources(folder: string): string[] {
  const entries = fs.readdirSync(path.join(sourceFolder, folder), { withFileTypes: true })
  return entries
    .filter(({ name }) => !/^(dist|node_modules)\b/.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const name = path.join(folder, entry.name)
      return entry.isDirectory() ? findSources(name) : [name]
    })
}

/** Compresses the files once, instead of for each browser. */
async function packAll(folder: string): Promise<void> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
  await Promise.all(names.filter((name) => packed.test(name)).map((name) => pack(folder, name)))
}

async function pack(folder: string, name: string): Promise<void> {
  const file = path.join(folder, name)
  const content = fs.readFileSync(file)
  const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 }
  const [small, smaller] = await Promise.all([gzip(content), brotli(content, { params })])
  fs.writeFileSync(`${file}.gz`, small)
  fs.writeFileSync(`${file}.br`, smaller)
}

function replaceFolder(draft: string, target: string): void {
  const old = `${draft}.old`
  if (fs.existsSync(target)) fs.renameSync(target, old)
  fs.renameSync(draft, target)
  fs.rmSync(old, { recursive: true, force: true })
}
