import { afterAll } from 'vitest'
import { takeSpent, type Spent } from './seconds.js'
import './exits.js'
import '../temporal/runtime.js'

declare module 'vitest' {
  interface TaskMeta {
    spent?: Spent
  }
}

// Runs before each file. The reporter adds up what its files have waited for.
takeSpent()
afterAll(({}, file) => {
  file.meta.spent = takeSpent()
})
