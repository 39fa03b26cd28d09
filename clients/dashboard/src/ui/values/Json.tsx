import { Copy } from './Copy.js'

/** The raw API response, collapsed. */
export function Json({ value }: { value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <details className="border-t border-line pt-3">
      <summary className="cursor-pointer text-sm text-ink-2 hover:text-ink">
        API response as JSON
      </summary>
      <div className="relative mt-3 rounded-md border border-line bg-sunken">
        <div className="absolute top-2 right-2">
          <Copy text={text} label="JSON" />
        </div>
        <pre tabIndex={0} className="max-h-128 overflow-auto p-3 text-xs leading-5">
          {text}
        </pre>
      </div>
    </details>
  )
}
