type ChipChoice = { value: string; label: string }
type Props = {
  label: string
  choices: readonly ChipChoice[]
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** A filter with a few values. At most one is on; pressing it again turns it off. */
export function Chips({ label, choices, value, onChange }: Props) {
  return (
    <div role="group" aria-label={label} className="flex flex-wrap gap-1.5">
      {choices.map((choice) => {
        const isOn = choice.value === value
        const look = isOn
          ? 'border-accent bg-accent-soft text-accent'
          : 'border-line text-ink-2 hover:border-line-strong hover:text-ink'
        return (
          <button
            key={choice.value}
            type="button"
            aria-pressed={isOn}
            className={`h-7 rounded-full border px-2.5 text-xs font-medium transition-colors ${look}`}
            onClick={() => onChange(isOn ? undefined : choice.value)}
          >
            {choice.label}
          </button>
        )
      })}
    </div>
  )
}
