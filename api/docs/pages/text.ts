const characters: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHtml = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => characters[sign] ?? sign)

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The text of rendered HTML. */
export const toText = (html: string) =>
  html
    .replace(/<a class="anchor".*?<\/a>/g, '')
    .replace(/<[^>]*>/g, '')
    .replace(/&([a-z]+|#39);/g, (entity, name: string) => entities[name] ?? entity)
