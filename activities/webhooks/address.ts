import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { SendFailure } from './failure.js'

/**
 * IPv4 ranges that are not globally reachable: special-purpose addresses, multicast and reserved ranges.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const specialV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24'],
  ...['192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]

/**
 * The global unicast block of IPv6, and its ranges that are not globally reachable: protocol assignments (Teredo,
 * ORCHID), documentation, 6to4 and AS112. Embedded IPv4 addresses (mapped, NAT64) are outside of the block.
 *
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const globalV6 = '2000::/3'
const specialV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const listOf = (ranges: string[], type: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', prefix] = range.split('/')
    list.addSubnet(net, Number(prefix), type)
  }
  return list
}
const refusedV4 = listOf(specialV4, 'ipv4')
const refusedV6 = listOf(specialV6, 'ipv6')
const publicV6 = listOf([globalV6], 'ipv6')
const loopback = listOf(['127.0.0.0/8'], 'ipv4')
const loopbackV6 = listOf(['::1/128'], 'ipv6')

/** Whether an address is globally reachable. */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !refusedV4.check(address, 'ipv4')
    case 6:
      return publicV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6')
    default:
      return false
  }
}

const isLoopback = (address: string): boolean =>
  isIP(address) === 4
    ? loopback.check(address, 'ipv4')
    : isIP(address) === 6 && loopbackV6.check(address, 'ipv6')

export type Address = { address: string; family: number }
/** Resolves a host name to all its addresses. */
export type Resolve = (name: string) => Promise<Address[]>

/** Checks endpoints before anything is sent to them. */
export type Guard = {
  /**
   * Checks the text of a URL.
   *
   * @returns Undefined for an allowed URL; else the violated requirement, such as `must be an https URL`.
   */
  refusal(text: string): string | undefined
  /**
   * Resolves the host of a URL once, to the address that the connection must use.
   *
   * @throws {SendFailure} `not_resolved`, `address_refused`.
   */
  pin(url: URL): Promise<Address>
}

const MAX_LENGTH = 2_048
const resolveByName: Resolve = (name) => lookup(name, { all: true, verbatim: true })

/**
 * Creates the guard against server-side request forgery. Callers name the endpoints, so deliveries go to globally
 * reachable addresses only.
 *
 * @param isDevnet - Allows http, and loopback addresses on any port.
 */
export function createGuard({
  isDevnet,
  resolve = resolveByName,
}: {
  isDevnet: boolean
  resolve?: Resolve
}): Guard {
  const protocols = isDevnet ? ['https:', 'http:'] : ['https:']
  const isAllowed = ({ address }: Address) => isPublic(address) || (isDevnet && isLoopback(address))
  return {
    refusal(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (!url || !protocols.includes(url.protocol)) return 'must be an https URL'
      if (text.length > MAX_LENGTH) return `must be at most ${MAX_LENGTH} characters long`
      if (url.username || url.password) return 'must have no user or password in it'
      if (url.hash) return 'must have no fragment'
      // The parser drops the default port of a scheme.
      if (url.port && !isDevnet) return 'must use port 443'
      return undefined
    },
    async pin(url) {
      const found = await findAddresses(url, resolve)
      const address = found.find(isAllowed)
      if (!address) throw new SendFailure('address_refused')
      // Custom ports are for loopback receivers only.
      if (url.port && !isLoopback(address.address)) throw new SendFailure('address_refused')
      return address
    },
  }
}

async function findAddresses(url: URL, resolve: Resolve): Promise<Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  if (family > 0) return [{ address: host, family }]
  const found = await resolve(host).catch(() => [])
  if (found.length === 0) throw new SendFailure('not_resolved')
  return found
}
