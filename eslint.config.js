import { builtinModules } from 'node:module'
import js from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { libraries, underInterfaces } from './eslint.libraries.js'

const noDefaultExport = {
  selector: 'ExportDefaultDeclaration',
  message: 'Export by name: one thing has one name everywhere.',
}
const noEnum = {
  selector: 'TSEnumDeclaration',
  message: 'Use a union of literals, or an object `as const`.',
}

const atTop = ':matches(Program, Program > ExportNamedDeclaration) > VariableDeclaration'
const noState = {
  selector: `${atTop}[kind!="const"], ${atTop} > VariableDeclarator > NewExpression[callee.name=/Map$|Set$/][arguments.length=0]`,
  message: 'A module keeps nothing but constants: all workflows of a worker share it.',
}

/** Tools that read a default export by their own rule. */
const defaultExportFiles = [
  '*.config.js',
  'web/vite.config.ts',
  'test/support/{secondsReporter,tallyReporter}.ts',
]

const testRelaxations = {
  // A matcher is `any` where it stands for a part of a value.
  '@typescript-eslint/no-unsafe-assignment': 'off',
  'max-lines-per-function': 'off',
  // Vitest wants a pattern in place of a parameter that is not used.
  'no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }],
}

export default defineConfig(
  globalIgnores(['**/dist/', 'coverage/', '.steward/']),
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    plugins: { libraries },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // An activity that nobody awaits is the slip that loses money.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/only-throw-error': 'error',
      // Objects are made by functions, not by classes: their methods do without `this`.
      '@typescript-eslint/unbound-method': 'off',
      complexity: ['error', 12],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': ['error', noDefaultExport, noEnum, ...underInterfaces],
      'libraries/no-change': 'error',
    },
  },
  {
    // Where money moves: a fourth argument is a thing that wants a name.
    files: [
      '{activities,chains,custody,db,lanes,planning,probe,protocols,signer,temporal,worker,workflows}/**',
    ],
    rules: { 'max-params': ['error', 3] },
  },
  {
    // Pure code: the domain decides, a workflow is replayed.
    files: ['domain/**', 'workflows/**'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport, noEnum, noState, ...underInterfaces],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(node:|(${builtinModules.join('|')})(/|$))`,
              message: 'No input or output here: pass in what it would read.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        AbortSignal: 'readonly',
        URL: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        module: 'writable',
        process: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  {
    // Most of a component is the page as it is laid out.
    files: ['web/**/*.tsx'],
    rules: {
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['web/public/**'],
    languageOptions: { globals: { document: true, localStorage: true } },
  },
  { files: ['test/**'], rules: testRelaxations },
  { files: defaultExportFiles, rules: { 'no-restricted-syntax': ['error', noEnum] } },
)
