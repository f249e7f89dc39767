/** Commands that need no simulator, and help. */
import type { Command } from './command.ts';

export const makeCommands: readonly Command[] = [
  {
    name: 'completion',
    group: 'help',
    line: 'prints the completion script of a shell',
    usage: ['completion bash|zsh|fish'],
    examples: [['source <(derbench completion bash)', 'In ~/.bashrc; the script is static and starts nothing.']],
    completes: ['bash', 'zsh', 'fish'],
    runs: 'program',
  },
  {
    name: 'help',
    group: 'help',
    line: 'explains a topic or a command',
    usage: ['help [TOPIC|COMMAND]', 'help flags [TOPIC]'],
    examples: [['derbench help flags modbus', 'The flags of Modbus TCP with their defaults.']],
    completes: 'topics',
    runs: 'program',
  },
];
