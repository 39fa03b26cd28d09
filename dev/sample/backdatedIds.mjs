// Preloaded into the API process that creates the sample data: its ids hold a time in the past, because lists filter by
// the time in an id. Ids are made by `Date.now`. All else keeps the present.
import { mock } from 'node:test'

const { now } = Date
let ageMs = 0
mock.method(Date, 'now', () => now() - ageMs)

process.on('message', (message) => {
  ageMs = message.ageMs
  process.send({ type: 'aged' })
})
