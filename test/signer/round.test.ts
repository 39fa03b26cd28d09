import { expect, test } from '@jest/globals'
import { onceInRound, type Round } from '../../signer/round.js'

test('what several operations of a round want to know is asked once, and anew in another round', async () => {
  const asked: string[] = []
  const read = onceInRound((round, key: string) => {
    asked.push(key)
    return Promise.resolve(`${key} at ${round.head}`)
  })
  const [first, second] = [{ head: 1n } as Round, { head: 2n } as Round]
  const answers = await Promise.all([read(first, 'a'), read(first, 'a'), read(first, 'b')])
  expect(answers).toEqual(['a at 1', 'a at 1', 'b at 1'])
  expect(await read(second, 'a')).toBe('a at 2')
  expect(asked).toEqual(['a', 'b', 'a'])
})
