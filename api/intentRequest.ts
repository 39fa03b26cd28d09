import { ServiceError } from '../domain/errors.js'
import { toUnits } from '../domain/money.js'
import type { Registry } from '../chains/registry.js'
import type { IntentBody, IntentRequest } from '../domain/intent.js'

/**
 * What the body of `POST /v1/intents` asks for: amount in base units, chains by their canonical names.
 *
 * @param decimals - Decimals of the asset.
 * @throws {ServiceError} INVALID_REQUEST by the name of the field; with the reason `action_not_available`
 *   for a valid `withdraw` or `bridge`, which the service does not execute yet.
 */
export function toRequest(registry: Registry, body: IntentBody, decimals: number): IntentRequest {
  const { action, asset } = body
  const amountUnits = toUnits(body.amount, decimals)
  switch (body.action) {
    case 'lend': {
      if (body.chain === undefined) return { action: 'lend', asset, amountUnits }
      const chain = registry.resolve(body.chain).name
      return { action: 'lend', asset, amountUnits, chain }
    }
    case 'withdraw':
      registry.resolve(body.chain)
      throw notAvailable(action)
    case 'bridge':
      if (
        registry.resolve(body.fromChain, 'fromChain') === registry.resolve(body.toChain, 'toChain')
      ) {
        throw sameChain()
      }
      throw notAvailable(action)
  }
}

function sameChain(): ServiceError {
  const message = 'must be another chain than fromChain'
  return new ServiceError('INVALID_REQUEST', `toChain: ${message}`, {
    issues: [{ path: 'toChain', message }],
  })
}

function notAvailable(action: string): ServiceError {
  const message = `\`${action}\` is not available yet; use \`lend\``
  return new ServiceError('INVALID_REQUEST', `action: ${message}`, {
    reason: 'action_not_available',
    issues: [{ path: 'action', message }],
  })
}
