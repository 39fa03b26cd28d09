import { afterAll } from 'vitest'
import { takeSpent, type Spent } from './seconds.js'
import './exits.js'
import '../temporal/runtime.js'

declare module 'vitest' {
  interface TaskMeta {
    spent?: Spent
  }
}

// Runs before each file. The reporter sums the waiting times.
takeSpent()
afterAll(({}, file) => {
  file.meta.spent = takeSpent()
})
