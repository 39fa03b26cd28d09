import type { NewKeyAnswer } from '../../api/types.js'
import { Button } from '../../ui/Button.js'
import { Dialog } from '../../ui/Dialog.js'
import { Code } from '../../ui/Empty.js'

/** A key, this once. */
export function ShownKey({ made, onClose }: { made: NewKeyAnswer; onClose: () => void }) {
  const call = `curl -s ${location.origin}/v1/yields \\\n  -H 'Authorization: Bearer ${made.key}'`
  return (
    <Dialog title={`Key “${made.name}”`} onClose={onClose}>
      <div className="space-y-4 text-sm">
        <p>Copy it now: it is stored as a digest only, and nobody can show it again.</p>
        <Code text={made.key} label="key" />
        <p className="text-ink-2">A first call with it:</p>
        <Code text={call} label="command" />
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
