import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../../api/access.js'
import { Copy } from '../values/Copy.js'

type Props = { title: string; children: ReactNode; call?: string }

/** The empty state of a list, with the call that creates the first entry, for members who may make it. */
export function Empty({ title, children, call }: Props) {
  const mayWrite = useMay('write')
  return (
    <div className="flex flex-col items-start gap-3 border-y border-line py-10">
      <h2 className="text-base">{title}</h2>
      <div className="max-w-xl text-sm text-ink-2">{children}</div>
      {call && mayWrite && <Code text={call} label="command" />}
    </div>
  )
}

type Unmatched = { title: string; to: '/intents' | '/requests' | '/wallets'; children: string }

/** The empty state of a filtered list, with a link to the whole list. */
export function NothingMatches({ title, to, children }: Unmatched) {
  return (
    <Empty title={title}>
      <Link to={to} search={{}} className="font-medium text-accent hover:underline">
        {children}
      </Link>
    </Empty>
  )
}

/** A text to copy, such as a command. */
export function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className="flex w-full max-w-2xl items-start gap-2 rounded-md border border-line bg-sunken py-2 pr-2 pl-3">
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto py-0.5 text-xs leading-5">
        {text}
      </pre>
      <Copy text={text} label={label} />
    </div>
  )
}
