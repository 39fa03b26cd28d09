// Runs before `npm start` and `npm test`, also in a fresh clone. Hence plain JavaScript without dependencies.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const { engines } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const floor = engines.node.match(/\d+/g).map(Number)
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < floor[0] || (major === floor[0] && minor < floor[1])) {
  console.error(`Steward needs Node ${floor.join('.')} or newer; this is ${process.versions.node}.`)
  process.exit(1)
}

/** The packages of a lockfile by path; undefined without a lockfile. */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(path.join(root, file), 'utf8')).packages
  } catch {
    return undefined
  }
}

/**
 * Compares the lockfile with npm's record of the installed packages in node_modules. File times are no evidence: a
 * checkout makes every file new. An optional package of another platform may be missing.
 */
function isInstalled() {
  const wanted = readPackages('package-lock.json')
  const present = readPackages('node_modules/.package-lock.json')
  if (!wanted || !present) return false
  return Object.entries(wanted).every(([folder, { version, integrity, optional }]) => {
    const found = present[folder]
    if (folder === '') return true
    return found ? found.version === version && found.integrity === integrity : Boolean(optional)
  })
}

if (!isInstalled()) {
  console.log('Installing dependencies (npm ci), about half a minute …')
  const npm = process.env.npm_execpath
  const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []]
  const flags = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund']
  const { status, error } = spawnSync(command, [...args, ...flags], { cwd: root, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`npm ci failed${error ? ` (${error.message})` : ''}. Run it by hand to see why.`)
    process.exit(1)
  }
}
