import { isIPv6 } from 'node:net'
import type { Request } from 'express'
import type { Browser } from '../../../db/accounts/sessions.js'
import type { Services } from '../services.js'

type ProxySettings = { dashboard: Pick<Services['dashboard'], 'trustedProxies'> }

/** Address and browser of a request, as text for the list of sessions. */
export const browserOf = (services: ProxySettings, request: Request): Browser => ({
  address: addressOf(services, request),
  agent: describeAgent(request.get('user-agent') ?? ''),
})

/** Groups of an IPv6 address that name a network. One client usually owns the whole /64. */
const NETWORK_GROUPS = 4

/** Address of a caller, the /64 network for IPv6. Behind trusted proxies it is read from X-Forwarded-For. */
export function addressOf({ dashboard }: ProxySettings, request: Request): string {
  const { trustedProxies = 0 } = dashboard
  const forwarded = trustedProxies > 0 ? (request.get('x-forwarded-for')?.split(',') ?? []) : []
  // Each proxy appends one address. Earlier entries can be forged by the caller.
  const client = forwarded.at(-trustedProxies)?.trim() ?? ''
  return networkAddress(client || request.socket.remoteAddress || '')
}

/** The key by which callers are counted: the address, or the /64 network for IPv6. */
export function networkAddress(address: string): string {
  if (!address.includes(':')) return address.slice(0, 64)
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return isIPv6(plain) ? networkOf(plain) : plain.slice(0, 64)
}

function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = (part: string) => part.split(':').filter(Boolean)
  const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length
  const all = [
    ...groups(head),
    ...Array<string>(Math.max(0, zeros)).fill('0'),
    ...groups(tail ?? ''),
  ]
  return `${all.slice(0, NETWORK_GROUPS).join(':')}::/64`
}

/** In order of precedence: user agents also contain the names of later entries. */
const browsers: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
]
const systems: [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/Linux|X11/, 'Linux'],
]

function describeAgent(text: string): string {
  const named = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(text))?.[1]
  const system = named(systems)
  return `${named(browsers) ?? 'Unknown browser'}${system ? ` on ${system}` : ''}`
}
