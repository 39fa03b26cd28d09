import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { withPrototypesOf } from '../../../api/http/prototypes.js'

let server: Server
const seen: object[][] = []

beforeAll(async () => {
  const app = express().get('/echo/:name', (request, response) => {
    seen.push([request, response].map((one) => Object.getPrototypeOf(one) as object))
    const { params, query, path } = request
    const facts = {
      ...params,
      query,
      path,
      agent: request.get('X-Agent'),
      own: request.app === app,
    }
    response
      .set('X-Own', String(response.app === app))
      .status(201)
      .json(facts)
  })
  server = createServer(withPrototypesOf(app), app)
  server.prependListener('request', (request, response) => {
    seen.push([request, response].map((one) => Object.getPrototypeOf(one) as object))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.close()
})

test('a request goes through Express with the prototypes that it came with, and all of its methods', async () => {
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/echo/alice?a=b`
  const answer = await fetch(url, { headers: { 'X-Agent': 'me' } })
  const expected = { name: 'alice', query: { a: 'b' }, path: '/echo/alice', agent: 'me', own: true }
  expect([answer.status, answer.headers.get('x-own')]).toEqual([201, 'true'])
  expect(await answer.json()).toEqual(expected)
  const [before = [], within = []] = seen
  for (const [at, prototype] of within.entries()) expect(prototype).toBe(before[at])
  expect(within).toHaveLength(2)
})
