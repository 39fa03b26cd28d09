import { bashScript } from '../completion/bash.js'
import { readWords } from '../completion/words.js'
import { zshScript } from '../completion/zsh.js'
import { misused } from '../exit.js'
import type { Command } from 'commander'
import type { Io } from '../terminal/io.js'

const scripts = { bash: bashScript, zsh: zshScript }

export function addCompletion(program: Command, io: Io): void {
  program
    .command('completion')
    .argument('<shell>', 'bash or zsh')
    .description('print the completion script: eval "$(steward completion bash)"')
    .action((shell: string) => {
      if (shell !== 'bash' && shell !== 'zsh') throw misused('Completion supports bash and zsh.')
      io.out.write(scripts[shell](readWords(program)))
    })
}
