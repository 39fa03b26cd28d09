import type { Node } from './words.js'

/** A completion script for zsh with descriptions. It contains all words and never calls the program. */
export function zshScript(nodes: Node[]): string {
  const flags = nodes.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue))
  const valueFlags = [...new Set(flags.map(({ flag }) => flag))]
  const valued = flags.filter(({ values }) => values.length > 0)
  const values = [...new Map(valued.map((one) => [one.flag, one.values]))]
  return `#compdef steward
# steward(1) completion: eval "$(steward completion zsh)"
_steward() {
  local word where='' skip='' i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${valueFlags.join('|')}) skip=1 ;;
      -*) ;;
      *) case "$where $word" in
${nodes
  .filter(({ path }) => path !== '')
  .map(({ path }) => `          ' ${path}') where=' ${path}' ;;`)
  .join('\n')}
        esac ;;
    esac
  done
  case \${words[CURRENT-1]} in
${values.map(([flag, words]) => `    ${flag}) compadd -- ${words.join(' ')}; return ;;`).join('\n')}
    ${valueFlags.join('|')}) _files; return ;;
  esac
  case $where in
${nodes.map(wordCase).join('\n')}
  esac
  _describe steward found
}
compdef _steward steward
`
}

function wordCase({ path, commands, options, values }: Node): string {
  const words = [
    ...commands.map(({ name, about }) => quote(`${name}:${about}`)),
    ...values.map(quote),
  ]
  const flags = options.map(({ flag, about }) => quote(`${flag}:${about}`))
  const own = path === '' ? "''" : `' ${path}'`
  return `    ${own}) if [[ $PREFIX == -* ]]; then found=(${flags.join(' ')}); else found=(${words.join(' ')}); fi ;;`
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
