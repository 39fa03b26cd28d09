import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  Outlet,
} from '@tanstack/react-router'
import { queryClient } from './api/client.js'
import { isFailure } from './api/call.js'
import { sessionQuery } from './api/queries.js'
import { Shell } from './shell/Shell.js'
import { Unforeseen } from './shell/Unforeseen.js'
import { NotFound } from './shell/WaysOn.js'

/** All pages by their path below `/dashboard`. Each page loads on its first visit. */

/** The filters of a list from the query string, without empty values. */
type Filters = Record<string, string | undefined>
const filters =
  (...names: string[]) =>
  (search: Record<string, unknown>): Filters =>
    Object.fromEntries(
      names.flatMap((name) => (search[name] ? [[name, String(search[name] as string)]] : [])),
    )

const root = createRootRoute({ component: Outlet })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: filters('next'),
  component: lazyRouteComponent(() => import('./pages/account/SignIn.js'), 'SignIn'),
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: lazyRouteComponent(() => import('./pages/account/Invitation.js'), 'Invitation'),
})
const passwordReset = createRoute({
  getParentRoute: () => root,
  path: '/password-resets/$token',
  component: lazyRouteComponent(() => import('./pages/account/PasswordReset.js'), 'PasswordReset'),
})

/** Redirects a user without a session to the sign-in page, and back after the sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: async ({ location }) => {
    await queryClient.ensureQueryData(sessionQuery).catch((error: unknown) => {
      if (!isFailure(error, 'UNAUTHORIZED')) throw error
      const next = location.href === '/' ? undefined : location.href
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- the router redirects by throwing
      throw redirect({ to: '/sign-in', search: next ? { next } : {} })
    })
  },
  component: Shell,
})

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: filters('range'),
  component: lazyRouteComponent(() => import('./pages/overview/Overview.js'), 'Overview'),
})
const intents = createRoute({
  getParentRoute: () => inside,
  path: '/intents',
  validateSearch: filters('status', 'action', 'userId', 'errorCode', 'from', 'until'),
  component: lazyRouteComponent(() => import('./pages/intents/Intents.js'), 'Intents'),
})
const newIntent = createRoute({
  getParentRoute: () => inside,
  path: '/intents/new',
  validateSearch: filters('walletId', 'action', 'amount', 'chain'),
  component: lazyRouteComponent(() => import('./pages/intents/new/NewIntent.js'), 'NewIntent'),
})
const intent = createRoute({
  getParentRoute: () => inside,
  path: '/intents/$intentId',
  component: lazyRouteComponent(() => import('./pages/intents/IntentPage.js'), 'IntentPage'),
})
const wallets = createRoute({
  getParentRoute: () => inside,
  path: '/wallets',
  validateSearch: filters('userId'),
  component: lazyRouteComponent(() => import('./pages/wallets/Wallets.js'), 'Wallets'),
})
const wallet = createRoute({
  getParentRoute: () => inside,
  path: '/wallets/$walletId',
  component: lazyRouteComponent(() => import('./pages/wallets/WalletPage.js'), 'WalletPage'),
})
const yields = createRoute({
  getParentRoute: () => inside,
  path: '/yields',
  validateSearch: filters('range'),
  component: lazyRouteComponent(() => import('./pages/yields/Yields.js'), 'Yields'),
})
const keys = createRoute({
  getParentRoute: () => inside,
  path: '/keys',
  validateSearch: filters('keyId'),
  component: lazyRouteComponent(() => import('./pages/keys/Keys.js'), 'Keys'),
})
const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/Webhooks.js'), 'Webhooks'),
})
const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$webhookId',
  validateSearch: filters('status', 'open'),
  component: lazyRouteComponent(() => import('./pages/webhooks/WebhookPage.js'), 'WebhookPage'),
})
const credits = createRoute({
  getParentRoute: () => inside,
  path: '/credits',
  validateSearch: filters('day', 'range'),
  component: lazyRouteComponent(() => import('./pages/usage/Usage.js'), 'Usage'),
})
const requests = createRoute({
  getParentRoute: () => inside,
  path: '/requests',
  validateSearch: filters(
    ...['status', 'method', 'path', 'code', 'keyId', 'userId', 'requestId', 'resourceId', 'open'],
  ),
  component: lazyRouteComponent(() => import('./pages/requests/Requests.js'), 'Requests'),
})
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/Settings.js'), 'Settings'),
})
const system = createRoute({
  getParentRoute: () => inside,
  path: '/system',
  component: lazyRouteComponent(() => import('./pages/system/System.js'), 'System'),
})
/** Unknown addresses keep the frame. */
const unknown = createRoute({ getParentRoute: () => inside, path: '$', component: NotFound })

const routeTree = root.addChildren([
  ...[signIn, invitation, passwordReset],
  inside.addChildren([
    ...[overview, intents, newIntent, intent, wallets, wallet],
    ...[yields, keys, webhooks, webhook, credits, requests, settings, system, unknown],
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: '/dashboard',
  defaultPreload: 'intent',
  defaultErrorComponent: Unforeseen,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
