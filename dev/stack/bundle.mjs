import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Plain JavaScript: it also bundles the program that starts everything.
const self = fileURLToPath(import.meta.url)
const rootFolder = path.resolve(self, '../../..')

/**
 * ES modules in many files: from a bundle they load in half the time. Other packages stay outside, among them native
 * parts, those with workers, and those that find files beside them.
 */
const inlined =
  /^(ethers|@noble|@adraffy|aes-js|zod|zod-openapi|@modelcontextprotocol|@steward)(\/|$)/

/**
 * Bundles programs, each into one file that plain Node runs, and keeps them until one of their sources has changed.
 *
 * @param {string} name - Of the folder that holds them.
 * @param {object} options
 * @param {string[]} options.entries - Sources below the root. `api/main.ts` becomes `api/main.js` in the folder.
 * @param {boolean} [options.keepsUrls] - `import.meta.url` stays that of the source, for programs that find files by it.
 * @param {(folder: string) => Promise<void>} [options.finish] - Makes what else the folder holds, after each bundling.
 * @returns {Promise<string>} The folder.
 */
export async function bundle(name, { entries, keepsUrls = false, finish }) {
  const folder = path.join(cacheFolder, `${name}-${digest(rootFolder).slice(0, 12)}`)
  const stamp = path.join(folder, 'inputs.json')
  if (isCurrent(stamp)) return folder
  const begun = Date.now()
  fs.rmSync(stamp, { force: true })
  const inputs = await writeBundles(folder, entries, keepsUrls)
  await finish?.(folder)
  // What was saved meanwhile may be in the bundle or not: the next call bundles again.
  const isCertain = inputs.every((file) => statOf(file).mtimeMs < begun)
  const stated = inputs.map((file) => [file, describe(file)])
  if (isCertain) writeWhole(stamp, JSON.stringify(Object.fromEntries(stated)))
  return folder
}

/** Beside the packages, so that the bundles find them; several checkouts may share those by a link. */
const cacheFolder = path.join(rootFolder, 'node_modules/.cache/steward')

const digest = (text) => createHash('sha256').update(text).digest('hex')
const statOf = (file) => fs.statSync(path.join(rootFolder, file), { throwIfNoEntry: false }) ?? {}
const describe = (file) => `${statOf(file).mtimeMs} ${statOf(file).size}`

function isCurrent(stamp) {
  if (!fs.existsSync(stamp)) return false
  const inputs = Object.entries(JSON.parse(fs.readFileSync(stamp, 'utf8')))
  return inputs.every(([file, stated]) => describe(file) === stated)
}

/** @returns {Promise<string[]>} The files that the bundles depend on, besides the installed packages. */
async function writeBundles(folder, entries, keepsUrls) {
  const { build } = await import('esbuild')
  const { metafile, outputFiles } = await build({
    ...{ absWorkingDir: rootFolder, entryPoints: entries, outdir: folder, outbase: rootFolder },
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20.19', keepNames: true },
    ...{ sourcemap: true, sourcesContent: false, metafile: true, write: false, logLevel: 'error' },
    plugins: [packagesOutside, ...(keepsUrls ? [sourceUrls] : [])],
  })
  for (const { path: file, contents } of outputFiles) writeWhole(file, contents)
  writeWhole(path.join(folder, 'package.json'), '{ "type": "module" }\n')
  const sources = Object.keys(metafile.inputs).filter((file) => !file.includes('node_modules/'))
  return [...sources, 'package-lock.json', path.relative(rootFolder, self)]
}

/** Two instances may bundle at once, and programs start meanwhile. */
function writeWhole(file, contents) {
  const draft = `${file}.${process.pid}`
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(draft, contents)
  fs.renameSync(draft, file)
}

/** @type {import('esbuild').Plugin} */
const packagesOutside = {
  name: 'packages outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path: name, kind }) =>
      kind === 'entry-point' || inlined.test(name) ? undefined : { path: name, external: true },
    )
  },
}

/** @type {import('esbuild').Plugin} */
const sourceUrls = {
  name: 'source URLs',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?[jt]s$/ }, ({ path: file }) => {
      if (file.includes('/node_modules/')) return undefined
      const text = fs.readFileSync(file, 'utf8')
      const url = JSON.stringify(pathToFileURL(file).href)
      const loader = /\.m?ts$/.test(file) ? 'ts' : 'js'
      return { contents: text.replaceAll('import.meta.url', url), loader }
    })
  },
}
