import { builtinModules } from 'node:module'
import js from '@eslint/js'
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'
import { libraries, underInterfaces } from './dev/tools/eslintLibraries.js'

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
  message: 'A module may only hold constants: all workflows of a worker share it.',
}

/** Tools require a default export of these files. */
const defaultExportFiles = [
  '*.config.js',
  'clients/dashboard/vite.config.ts',
  'test/support/run/{secondsReporter,tallyReporter}.ts',
]

const testRelaxations = {
  // Matchers have the type `any`.
  '@typescript-eslint/no-unsafe-assignment': 'off',
  'max-lines-per-function': 'off',
  // Vitest requires a destructuring pattern for an unused fixture parameter.
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
      // An activity without `await` could lose money.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/only-throw-error': 'error',
      // Objects are created by functions, so their methods do not use `this`.
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
    // Code that moves money takes named arguments beyond the third.
    files: ['{activities,custody,db,evm,operations,planning,relayer,signer,worker,workflows}/**'],
    rules: { 'max-params': ['error', 3] },
  },
  {
    // Pure code: the domain is deterministic, and workflows are replayed.
    files: ['domain/**', 'workflows/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', noDefaultExport, noEnum, noState, ...underInterfaces],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(node:|(${builtinModules.join('|')})(/|$))`,
              message: 'No input or output here. Pass the data as an argument.',
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
    // Components are mostly markup.
    files: ['clients/dashboard/**/*.tsx'],
    rules: {
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['clients/dashboard/public/**', 'api/docs/browser/**'],
    languageOptions: {
      globals: {
        CustomEvent: 'readonly',
        SwaggerUIBundle: 'readonly',
        addEventListener: 'readonly',
        dispatchEvent: 'readonly',
        document: 'readonly',
        localStorage: 'readonly',
        location: 'readonly',
        matchMedia: 'readonly',
        navigator: 'readonly',
        scrollBy: 'readonly',
        sessionStorage: 'readonly',
      },
    },
  },
  { files: ['test/**'], rules: testRelaxations },
  { files: defaultExportFiles, rules: { 'no-restricted-syntax': ['error', noEnum] } },
)
