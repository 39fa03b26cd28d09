const shared = 'rounded-md border border-line-strong bg-raised px-2.5 placeholder:text-ink-3'

/** The look of text boxes, selects and date fields: `large` in a form, `small` above a list. */
export const boxClass = {
  large: `${shared} h-9 w-full text-base text-ink aria-invalid:border-failed`,
  small: `${shared} h-8 text-sm`,
}
