export function bundle(
  name: string,
  options: {
    entries: string[]
    keepsUrls?: boolean
    finish?: (folder: string) => Promise<void>
  },
): Promise<string>
