import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

/** Where Debian and others put it; a checkout brings no browser of its own. */
const places = [
  ...[process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'],
  '/usr/bin/google-chrome',
]
const executablePath = places.find((place) => place && existsSync(place))

/** What the tests of a browser are run by: without one they are skipped, but never where a run must count. */
export const hasBrowser = executablePath !== undefined || process.env.CI === 'true'

if (!hasBrowser) {
  console.warn(
    'Skipped: no Chromium. Install it (apt-get install chromium) or name it by CHROMIUM.',
  )
}

/** Root, which a container has, may not use the sandbox of Chromium. */
export const openBrowser = (): Promise<Browser> => {
  if (!executablePath) throw new Error('There is no Chromium: install it, or name it by CHROMIUM.')
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/** What a page must not do: complain, fail, ask elsewhere. Filled while the page is used. */
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
