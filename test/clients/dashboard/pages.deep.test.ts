import { afterAll, beforeAll, describe } from 'vitest'
import { hasBrowser } from './browser.js'
import { startPageWorld, type PageWorld } from './pageWorld.js'
import { testAxe } from './pages/axe.js'
import { testBarriers } from './pages/barriers.js'
import { testIntents } from './pages/intents.js'
import { testKeyboard } from './pages/keyboard.js'
import { testLists } from './pages/lists.js'
import { testMembership } from './pages/membership.js'
import { testOwnWrites } from './pages/ownWrites.js'
import { testOverview } from './pages/overview.js'
import { testPaths } from './pages/paths.js'
import { testRequests } from './pages/requests.js'
import { testShell } from './pages/shell.js'
import { testTheme } from './pages/theme.js'
import { testViewer } from './pages/viewer.js'
import { testWallets } from './pages/wallets.js'

const START_MS = 150_000

const describeWithBrowser = hasBrowser ? describe : describe.skip

/** One browser and one API for all pages without chains. Each test has its own account. */
describeWithBrowser('dashboard pages:', () => {
  let world: PageWorld
  const open = () => world

  beforeAll(async () => {
    world = await startPageWorld()
  }, START_MS)
  afterAll(() => world?.stop(), START_MS)

  describe('accessibility rules', () => testAxe(open))
  describe('accessibility in both themes:', () => testBarriers(open))
  describe('intents', () => testIntents(open))
  describe('keyboard', () => testKeyboard(open))
  describe('list of intents', () => testLists(open))
  describe('members', () => testMembership(open))
  describe('own writes', () => testOwnWrites(open))
  describe('overview and charts', () => testOverview(open))
  describe('navigation', () => testPaths(open))
  describe('request log', () => testRequests(open))
  describe('frame', () => testShell(open))
  describe('theme', () => testTheme(open))
  describe('viewer', () => testViewer(open))
  describe('wallets', () => testWallets(open))
})
