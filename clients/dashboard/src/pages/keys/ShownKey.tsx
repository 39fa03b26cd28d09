import type { NewKeyAnswer } from '../../api/types.js'
import { Code } from '../../ui/feedback/Empty.js'
import { Shown } from '../../ui/dialogs/Shown.js'

/** Shows a new key once. */
export function ShownKey({ made, onClose }: { made: NewKeyAnswer; onClose: () => void }) {
  const call = `curl -s ${location.origin}/v1/yields \\\n  -H 'Authorization: Bearer ${made.key}'`
  return (
    <Shown title={`Key “${made.name}”`} done="I have copied it" onClose={onClose}>
      <p>Copy the key now. Only its digest is stored, so it cannot be shown again.</p>
      <Code text={made.key} label="key" />
      <p className="text-ink-2">A first call with this key:</p>
      <Code text={call} label="command" />
    </Shown>
  )
}
