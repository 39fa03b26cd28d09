import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefaultLogger, bundleWorkflowCode, type BundleOptions } from '@temporalio/worker'

/** A process of its own: bundles the workflows and sends the code to the process that has started it. */

/** What every Node that may run a worker executes as it is. */
const target = 'es2022'

// The bundler finds files by itself: it is told the source or the built one, as this process is.
const index = `../workflows/index${extname(fileURLToPath(import.meta.url))}`
const workflowsPath = fileURLToPath(new URL(index, import.meta.url))
const { code } = await bundleWorkflowCode({
  workflowsPath,
  // Loaded once instead of by each workflow: no module of ours may keep anything but constants.
  preloadModules: [workflowsPath],
  logger: new DefaultLogger('WARN'),
  webpackConfigHook: slim,
})
process.send?.(code, () => {
  process.disconnect()
})

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
        // Loading them beforehand is nothing but an effect.
        { test: workflowsPath, sideEffects: true },
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
