import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

/** Usual paths of Chromium. A checkout contains no browser. */
const places = [
  ...[process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'],
  '/usr/bin/google-chrome',
]
const executablePath = places.find((place) => place && existsSync(place))

/** Whether browser tests run. They are skipped without a browser, except in CI. */
export const hasBrowser = executablePath !== undefined || process.env.CI === 'true'

if (!hasBrowser) {
  console.warn(
    'Skipped: Chromium not found. Install it (apt-get install chromium) or set CHROMIUM.',
  )
}

/** Launches Chromium without its sandbox, which root in a container cannot use. */
export const openBrowser = (): Promise<Browser> => {
  if (!executablePath) throw new Error('Chromium not found. Install it or set CHROMIUM.')
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** Collects the errors, console errors and foreign requests of a page while it is used. */
export function watch(page: Page, origin: string): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    faults.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) faults.push(`outside: ${url}`)
  })
  return faults
}
