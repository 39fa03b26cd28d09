import type { ReactNode } from 'react'

/** Centered layout of the pages before the sign-in. */
export function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center p-6">
      <div className="mb-8 flex items-center gap-2.5">
        <img src="/dashboard/icon.svg" alt="" className="size-6" />
        <span className="text-base font-medium">Steward</span>
      </div>
      <h1 className="mb-6 text-xl">{title}</h1>
      {children}
    </main>
  )
}
