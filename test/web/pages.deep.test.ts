import { afterAll, beforeAll, describe } from 'vitest'
import { hasBrowser } from './browser.js'
import { startPageWorld, type PageWorld } from './pageWorld.js'
import { testAxe } from './pages/axe.js'
import { testBarriers } from './pages/barriers.js'
import { testKeyboard } from './pages/keyboard.js'
import { testLists } from './pages/lists.js'
import { testMembership } from './pages/membership.js'
import { testPaths } from './pages/paths.js'
import { testTheme } from './pages/theme.js'

const START_MS = 150_000

const describeWithBrowser = hasBrowser ? describe : describe.skip

/** One browser and one API for all pages that need no chain. Each test has an account of its own. */
describeWithBrowser('the dashboard in a browser:', () => {
  let world: PageWorld
  const open = () => world

  beforeAll(async () => {
    world = await startPageWorld()
  }, START_MS)
  afterAll(() => world?.stop(), START_MS)

  describe('the rules of accessibility', () => testAxe(open))
  describe('what keeps people out, in either theme, of', () => testBarriers(open))
  describe('by the keyboard alone', () => testKeyboard(open))
  describe('a list of intents', () => testLists(open))
  describe('members', () => testMembership(open))
  describe('the way to a page', () => testPaths(open))
  describe('the theme', () => testTheme(open))
})
