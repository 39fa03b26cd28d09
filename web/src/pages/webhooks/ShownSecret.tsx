import { Code } from '../../ui/feedback/Empty.js'
import { Shown } from '../../ui/dialogs/Shown.js'
import { VERIFYING } from './verifying.js'

type Props = { title: string; secret: string; note?: string; onClose: () => void }

/** A secret, this once, and what it is for. */
export function ShownSecret({ title, secret, note, onClose }: Props) {
  return (
    <Shown title={title} done="I have copied it" onClose={onClose}>
      <p>Copy it now: it is stored sealed, and nobody can show it again. {note}</p>
      <Code text={secret} label="secret" />
      <p className="text-ink-2">With it you know that what comes is ours:</p>
      <Code text={VERIFYING} label="code" />
    </Shown>
  )
}
