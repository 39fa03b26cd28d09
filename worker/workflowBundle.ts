import { createHash } from 'node:crypto'
import {
  mkdirSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, type BundleOptions, type Logger } from '@temporalio/worker'

const root = fileURLToPath(new URL('..', import.meta.url))
const cacheFolder = join(root, 'node_modules', '.cache', 'steward')
/** Everything that workflows may load: with this file, all that their bundle depends on. */
const sources = ['workflows', 'domain']
/** What every Node that may run a worker executes as it is. */
const target = 'es2022'

export type WorkflowBundle = { codePath: string } | { code: string }

/**
 * The bundled workflows. Bundling costs two seconds of a core, so that the result is kept beside the
 * installed packages, by the hash of its sources, where that folder can be written.
 */
export async function loadWorkflowBundle(logger: Logger): Promise<WorkflowBundle> {
  const codePath = join(cacheFolder, `workflows-${hashSources()}.cjs`)
  if (existsSync(codePath)) return { codePath }
  // The bundler finds files by itself: it is told the source or the built one, as this process is.
  const workflowsPath = join(root, 'workflows', `index${extname(fileURLToPath(import.meta.url))}`)
  const { code } = await bundleWorkflowCode({
    ...{ workflowsPath, logger },
    webpackConfigHook: slim,
  })
  try {
    mkdirSync(cacheFolder, { recursive: true })
    writeFileSync(`${codePath}.${process.pid}`, code)
    renameSync(`${codePath}.${process.pid}`, codePath)
  } catch {
    return { code }
  }
  return { codePath }
}

type Configuration = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0]

/**
 * Leaves out what no workflow runs: modules of ours of which nothing is used, the SDK's comments, texts of sources.
 * Each worker holds the bundle several times. Traces of our own code still name its files and lines.
 */
function slim(config: Configuration): Configuration {
  const loader = findLoader(config)
  const parser = { syntax: 'typescript' }
  const asWritten = { sourceMap: true, jsc: { target, parser } }
  const minify = { compress: false, mangle: false, format: { comments: false } }
  const packed = { minify: true, isModule: 'unknown', jsc: { target, minify } }
  const [own, installed] = [{ exclude: /node_modules/ }, { include: /node_modules/ }]
  return {
    ...config,
    devtool: 'inline-nosources-cheap-module-source-map',
    module: {
      ...config.module,
      rules: [
        { test: /\.[jt]s$/, ...own, sideEffects: false, use: { loader, options: asWritten } },
        { test: /\.c?js$/, ...installed, use: { loader, options: packed } },
      ],
    },
    // What an unused function of a module uses is not used either.
    optimization: { usedExports: true, innerGraph: true, sideEffects: true },
    output: { ...config.output, pathinfo: false },
  }
}

/** The compiler that the SDK has configured for what is written in TypeScript. */
function findLoader({ module }: Configuration): string {
  for (const rule of module?.rules ?? []) {
    const use = typeof rule === 'object' ? rule?.use : undefined
    const isOne = typeof use === 'object' && !Array.isArray(use)
    if (isOne && use?.loader?.includes('swc-loader')) return use.loader
  }
  throw new Error(
    'The SDK bundles workflows by another compiler than swc. Change how they are slimmed.',
  )
}

function hashSources(): string {
  const hash = createHash('sha256')
  const require = createRequire(import.meta.url)
  const sdk = require('@temporalio/workflow/package.json') as { version: string }
  hash.update(sdk.version).update(readFileSync(fileURLToPath(import.meta.url)))
  for (const folder of sources) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    for (const name of names.sort()) {
      if (['.ts', '.js'].includes(extname(name))) {
        hash.update(`\0${folder}/${name}\0`).update(readFileSync(join(root, folder, name)))
      }
    }
  }
  return hash.digest('hex').slice(0, 16)
}
