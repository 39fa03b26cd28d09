import type { Node } from './words.js'

/** A completion script for bash 3.2 and later. It contains all words and never calls the program. */
export function bashScript(nodes: Node[]): string {
  const valueOptions = new Set(
    nodes.flatMap(({ options }) => options.filter((one) => one.takesValue)),
  )
  const flags = [...new Set([...valueOptions].map(({ flag }) => flag))]
  const valued = nodes.flatMap(({ options }) => options.filter(({ values }) => values.length > 0))
  const values = [...new Map(valued.map((one) => [one.flag, one.values]))]
  return `# steward(1) completion: eval "$(steward completion bash)"
_steward() {
  local cur prev word path='' skip='' i
  COMPREPLY=()
  cur=\${COMP_WORDS[COMP_CWORD]}
  prev=\${COMP_WORDS[COMP_CWORD-1]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $skip ]]; then skip=''; continue; fi
    case $word in
      ${flags.join('|')}) skip=1 ;;
      -*) ;;
      *) case "$path $word" in
${pathCases(nodes)}
        esac ;;
    esac
  done
  case $prev in
${values.map(([flag, words]) => `    ${flag}) ${reply(words)}; return ;;`).join('\n')}
    ${flags.join('|')}) return ;;
  esac
  case $path in
${nodes.map(wordCase).join('\n')}
  esac
}
complete -o default -F _steward steward
`
}

/** Only a command changes the path; an argument keeps it. */
const pathCases = (nodes: Node[]) =>
  nodes
    .filter(({ path }) => path !== '')
    .map(({ path }) => `          ' ${path}') path=' ${path}' ;;`)
    .join('\n')

function wordCase({ path, commands, options, values }: Node): string {
  const words = [...commands.map(({ name }) => name), ...values]
  const flags = options.map(({ flag }) => flag)
  const own = path === '' ? "''" : `' ${path}'`
  return `    ${own}) if [[ $cur == -* ]]; then ${reply(flags)}; else ${reply(words)}; fi ;;`
}

const reply = (words: readonly string[]) =>
  words.length === 0 ? ':' : `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$cur"))`
