/** Builds the published `dist/`: ESM, CommonJS and their types. Prints the sizes. */
import { Buffer } from 'node:buffer'
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const here = import.meta.dirname
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const [dist, esm, cjs] = ['dist', 'dist/esm', 'dist/cjs'].map((folder) => join(here, folder))

const compile = (outDir, ...options) => {
  const flags = ['--project', 'tsconfig.build.json', '--outDir', outDir, ...options]
  execFileSync(process.execPath, [tsc, ...flags], { cwd: here, stdio: 'inherit' })
}
const commonJs = ['--module', 'commonjs', '--moduleResolution', 'node10']

rmSync(dist, { recursive: true, force: true })
// The type declarations keep the comments for editors.
compile(esm, '--removeComments', '--declaration', 'false')
compile(cjs, '--removeComments', '--declaration', 'false', ...commonJs)
compile(esm, '--emitDeclarationOnly')
cpSync(esm, cjs, {
  recursive: true,
  filter: (source) => !source.endsWith('.js'),
})
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')

for (const [name, folder] of Object.entries({ ESM: esm, CommonJS: cjs })) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.js'))
  const code = Buffer.concat(files.map((file) => readFileSync(join(folder, file))))
  const weight = `${code.length} bytes, ${gzipSync(code, { level: 9 }).length} gzipped`
  console.log(`${name}: ${files.length} files, ${weight}`)
}
