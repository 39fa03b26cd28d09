import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Plain JavaScript, because it also bundles the program that starts the stack.
const self = fileURLToPath(import.meta.url)
const rootFolder = path.resolve(self, '../../..')

/**
 * Packages of many ES modules, which load in half the time from a bundle. Other packages stay external, such as those
 * with native code, worker threads or files of their own.
 */
const inlined =
  /^(ethers|@noble|@adraffy|aes-js|zod|zod-openapi|@modelcontextprotocol|@steward)(\/|$)/

/**
 * Bundles each program into one file for plain Node. Reuses the files until a source changes.
 *
 * @param {string} name - Name of the folder that holds the bundles.
 * @param {object} options
 * @param {string[]} options.entries - Sources below the root. `api/main.ts` becomes `api/main.js` in the folder.
 * @param {boolean} [options.keepsUrls] - Keeps `import.meta.url` of the source, for programs that locate files by it.
 * @param {(folder: string) => Promise<void>} [options.finish] - Adds other files to the folder after each bundling.
 * @returns {Promise<string>} Path of the folder.
 */
export async function bundle(name, { entries, keepsUrls = false, finish }) {
  const folder = path.join(cacheFolder, `${name}-${digest(rootFolder).slice(0, 12)}`)
  const stamp = path.join(folder, 'inputs.json')
  if (isCurrent(stamp)) return folder
  const begun = Date.now()
  fs.rmSync(stamp, { force: true })
  const inputs = await writeBundles(folder, entries, keepsUrls)
  await finish?.(folder)
  // A file saved during the bundling may be missing from the bundle. The next call then bundles again.
  const isCertain = inputs.every((file) => statOf(file).mtimeMs < begun)
  const stated = inputs.map((file) => [file, describe(file)])
  if (isCertain) writeWhole(stamp, JSON.stringify(Object.fromEntries(stated)))
  return folder
}

/** Beside the packages, so that the bundles resolve them. Several checkouts may share node_modules by a link. */
const cacheFolder = path.join(rootFolder, 'node_modules/.cache/steward')

const digest = (text) => createHash('sha256').update(text).digest('hex')
const statOf = (file) => fs.statSync(path.join(rootFolder, file), { throwIfNoEntry: false }) ?? {}
const describe = (file) => `${statOf(file).mtimeMs} ${statOf(file).size}`

function isCurrent(stamp) {
  if (!fs.existsSync(stamp)) return false
  const inputs = Object.entries(JSON.parse(fs.readFileSync(stamp, 'utf8')))
  return inputs.every(([file, stated]) => describe(file) === stated)
}

/** @returns {Promise<string[]>} The source files of the bundles, without installed packages. */
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

/** Two instances may bundle at the same time, while programs start from the folder. */
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
