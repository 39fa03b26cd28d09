import { isIPv6 } from 'node:net'
import type { Request } from 'express'
import type { Browser } from '../../../db/tenants/sessions.js'
import type { Services } from '../services.js'

type Settings = { dashboard: Pick<Services['dashboard'], 'trustedProxies'> }

/** Where a request comes from, and by which browser, in words for a list of sessions. */
export const browserOf = (services: Settings, request: Request): Browser => ({
  address: addressOf(services, request),
  agent: describeAgent(request.get('user-agent') ?? ''),
})

/** Groups of an IPv6 address that name a network: whoever has one has all addresses in it. */
const NETWORK_GROUPS = 4

/** The address of a caller, of IPv6 his network. Proxies of ours tell whom they have heard. */
export function addressOf({ dashboard }: Settings, request: Request): string {
  const { trustedProxies = 0 } = dashboard
  const told = trustedProxies > 0 ? (request.get('x-forwarded-for')?.split(',') ?? []) : []
  // Each proxy adds one at the end; what stands before ours anybody may have written.
  const client = told.at(-trustedProxies)?.trim() ?? ''
  return networkAddress(client || request.socket.remoteAddress || '')
}

/** An address as callers are counted by it: of IPv6 the network. */
export function networkAddress(address: string): string {
  // Most come over IPv4: what a colon would tell of them costs nothing to ask.
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

/** Later ones also call themselves by the names of earlier ones: the first that fits is the right one. */
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
