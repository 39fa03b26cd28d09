// `npm start`: bundles `start.ts`, unless it is the one of the last time, and runs it. Plain Node is up a second before
// one that strips the types of each source as it loads it.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './stack/bundle.mjs'

const folder = await bundle('start', { entries: ['dev/start.ts'], keepsUrls: true })
await import(pathToFileURL(path.join(folder, 'dev/start.js')).href)
