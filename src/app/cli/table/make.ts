/** Commands that need no simulator, and help. */
import type { Command, CommandOption } from './command.ts';

const json: CommandOption = { flag: '--json', line: 'prints the answer as one JSON document' };

export const makeCommands: readonly Command[] = [
  {
    name: 'list',
    group: 'make',
    line: 'lists what comes with derbench',
    usage: ['list scenarios|profiles|events|faults|sets|maps|configs', 'list points [MODEL]'],
    options: [json],
    examples: [
      ['derbench list scenarios', 'Names for derbench run.'],
      ['derbench list points 704', 'The points of a model with their words.'],
    ],
    completes: ['scenarios', 'profiles', 'events', 'faults', 'sets', 'maps', 'configs', 'points'],
    runs: 'program',
  },
  {
    name: 'init',
    group: 'make',
    line: 'writes a configuration by questions, or a scenario',
    usage: ['init [FILE]', 'init scenario [FILE]'],
    options: [
      { flag: '--kinds', value: 'LIST', line: 'devices, such as PV=2,Batt=1' },
      { flag: '--rating', value: 'KW', line: 'rating of a PV inverter or battery' },
      { flag: '--frequency', value: 'HZ', line: '50 or 60' },
      { flag: '--protocols', value: 'LIST', line: 'of modbus, dnp3, ocpp' },
      { flag: '--mb-port', value: 'N', line: 'Modbus TCP port of the first device' },
      { flag: '--http-port', value: 'N', line: 'port of the HTTP interface' },
      { flag: '--yes', line: 'asks nothing; so it is without a terminal' },
    ],
    examples: [
      ['derbench init', 'Asks, and writes derbench.yaml.'],
      ['derbench init site.yaml --yes --kinds PV=2,Batt=1 --frequency 50', 'For scripts.'],
    ],
    notes: ['A file that exists stays as it is. The configuration is checked before it is written.'],
    completes: ['scenario'],
    runs: 'program',
  },
  {
    name: 'doctor',
    group: 'make',
    line: 'checks this machine, and a simulator with --url',
    usage: ['doctor [--url URL]'],
    options: [{ flag: '--url', value: 'URL', line: 'address of a simulator to check as well' }, json],
    examples: [['derbench doctor', 'Lines of ok, note and bad, each with its remedy.']],
    notes: ['Exit code 1 if a check is bad.'],
    runs: 'program',
  },
  {
    name: 'mcp',
    group: 'make',
    line: 'serves agents over MCP on standard input and output',
    usage: ['mcp [--url URL] [OPTIONS]', 'mcp --own [OPTIONS] [FLAGS]'],
    options: [
      { flag: '--url', value: 'URL', line: 'a running simulator (default http://127.0.0.1:8111)' },
      { flag: '--own', line: 'a simulator in this process, paused, on free ports' },
      { flag: '--read-only', line: 'only the tools that read' },
      { flag: '--allow-outbound', line: 'requests may name hosts, addresses and files' },
    ],
    examples: [
      ['derbench mcp --own --config mixed-site', 'For the configuration of an agent.'],
      ['derbench mcp --url http://127.0.0.1:8111 --read-only', 'Looks at a running simulator, changes nothing.'],
    ],
    notes: [
      'DERBENCH_URL is the default of --url. The process ends with its standard input. Flags of the simulator go with --own.',
    ],
    runs: 'program',
  },
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
