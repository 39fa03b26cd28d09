// `npm start`: bundles `start.ts` when it has changed, and runs the bundle. Plain Node starts a second faster than a
// loader that strips types from each source file.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle } from './stack/bundle.mjs'

const folder = await bundle('start', { entries: ['dev/start.ts'], keepsUrls: true })
await import(pathToFileURL(path.join(folder, 'dev/start.js')).href)
