import { Download } from 'lucide-react'

/** A download link of the API. */
export function FileLink({ path, children }: { path: string; children: string }) {
  return (
    <a
      href={`/dashboard/api${path}`}
      download
      className="inline-flex items-center gap-1.5 text-sm font-medium text-accent hover:underline"
    >
      <Download aria-hidden className="size-3.5" />
      {children}
    </a>
  )
}
