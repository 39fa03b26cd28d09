/** Builds the published `dist/`: one JavaScript file per source file. The type check of the repository covers them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const [source, dist] = ['src', 'dist'].map((folder) => join(import.meta.dirname, folder))
const compilerOptions = {
  ...{ module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  ...{ verbatimModuleSyntax: true, removeComments: true },
}

rmSync(dist, { recursive: true, force: true })
const files = readdirSync(source, { recursive: true }).filter((file) => file.endsWith('.ts'))
let bytes = 0
for (const file of files) {
  const text = readFileSync(join(source, file), 'utf8')
  const { outputText } = ts.transpileModule(text, { compilerOptions, fileName: file })
  const target = join(dist, file.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, outputText)
  bytes += outputText.length
}
console.log(`steward: ${files.length} files, ${bytes} bytes`)
