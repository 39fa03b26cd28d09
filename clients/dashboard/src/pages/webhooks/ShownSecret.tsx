import { Code } from '../../ui/feedback/Empty.js'
import { Shown } from '../../ui/dialogs/Shown.js'
import { VERIFYING } from './verifying.js'

type Props = { title: string; secret: string; note?: string; onClose: () => void }

/** Shows a secret once, with a code example to verify webhooks. */
export function ShownSecret({ title, secret, note, onClose }: Props) {
  return (
    <Shown title={title} done="I have copied it" onClose={onClose}>
      <p>Copy the secret now. It is stored encrypted and cannot be shown again. {note}</p>
      <Code text={secret} label="secret" />
      <p className="text-ink-2">Verify each webhook with this secret:</p>
      <Code text={VERIFYING} label="code" />
    </Shown>
  )
}
