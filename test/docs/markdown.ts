import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readCodeBlocks } from '../../dev/tools/codeBlocks.js'

/** Ends with a slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** @param file - Path from the root of the repository. */
export const readPage = (file: string): string => readFileSync(`${root}${file}`, 'utf8')

/** Lines outside of code blocks. */
export function readProse(page: string): string[] {
  const blocks = readCodeBlocks(page)
  const isCode = (line: number) => blocks.some((block) => block.line <= line && line <= block.end)
  return page.split('\n').filter((_line, at) => !isCode(at + 1))
}

/** Paragraphs and list items, each as one line; tables and headings are left out. */
export function readParagraphs(page: string): string[] {
  const paragraphs: string[] = []
  let isOpen = false
  for (const line of readProse(page)) {
    const text = line.trim()
    const isItem = /^(?:[-*]|\d+\.) /.test(text)
    if (text === '' || /^(?:#|\|)/.test(text)) isOpen = false
    else if (isOpen && !isItem) paragraphs[paragraphs.length - 1] += ` ${text}`
    else {
      paragraphs.push(text)
      isOpen = true
    }
  }
  return paragraphs
}

/** Headings of the second level, in their order. */
export const readSections = (page: string): string[] =>
  readProse(page).flatMap((line) => /^## (.*)$/.exec(line)?.[1] ?? [])

/** Cells of each row of the tables in a section, without the rows of headings. */
export function readRows(page: string, section: string): string[][] {
  const lines = readProse(page)
  const begin = lines.indexOf(`## ${section}`)
  if (begin === -1) throw new Error(`There is no section ${section}.`)
  const after = lines.slice(begin + 1)
  const end = after.findIndex((line) => line.startsWith('## '))
  const rows = after.slice(0, end === -1 ? undefined : end).filter((line) => line.startsWith('|'))
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  return cells.filter((_row, at) => !isRule(cells[at]) && !isRule(cells[at + 1]))
}

const isRule = (row: string[] | undefined) => row?.every((cell) => /^:?-+:?$/.test(cell)) === true

/** Targets of the links to files, without anchors. */
export const readLinks = (page: string): string[] =>
  readProse(page).flatMap((line) =>
    [...line.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)].map(([, link = '']) => link),
  )

/** Paths of the repository that a line names in code font, such as `domain/plan/`. */
export const readPaths = (line: string): string[] =>
  [...line.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => path.includes('/'))
