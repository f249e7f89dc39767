/** Commands that run simulators, and those that work on their files. */
import type { Command } from './command.ts';

export const simulateCommands: readonly Command[] = [
  {
    name: 'start',
    group: 'simulate',
    line: 'starts the simulator; without a command too',
    usage: ['[start] [FLAGS]'],
    examples: [
      ['derbench', 'One PV inverter: Modbus TCP on port 8502, HTTP on 8111.'],
      ['derbench start -d Batt -N 3', 'Three batteries on the ports 8502 to 8504.'],
    ],
    notes: ['"derbench help flags" lists the topics of its flags, "derbench --help" all flags.'],
    runs: 'flags',
  },
  {
    name: 'run',
    group: 'simulate',
    line: 'runs scenarios, each on a simulator of its own',
    usage: ['run FILE [FILE ...] [OPTIONS] [FLAGS]'],
    examples: [['derbench run volt-watt', 'A scenario that comes with the program.']],
    completes: 'scenarios',
    runs: 'itself',
  },
  {
    name: 'check',
    group: 'simulate',
    line: 'checks scenarios without running them',
    usage: ['check FILE [FILE ...]'],
    examples: [['derbench check test.yaml', 'Prints every issue with its place.']],
    completes: 'scenarios',
    runs: 'itself',
  },
  {
    name: 'replay',
    group: 'simulate',
    line: 'plays a recording against another build',
    usage: ['replay FILE --modbus HOST:PORT [OPTIONS]'],
    examples: [['derbench replay r.jsonl --modbus 127.0.0.1:8502', 'Lists the answers that differ.']],
    completes: 'files',
    runs: 'itself',
  },
  {
    name: 'state',
    group: 'simulate',
    line: 'shows, copies or empties a state folder',
    usage: ['state show|export|import|reset DIR'],
    examples: [['derbench state show lab', 'The devices and protocols whose state is kept.']],
    completes: ['show', 'export', 'import', 'reset'],
    runs: 'itself',
  },
  {
    name: 'pki',
    group: 'simulate',
    line: 'makes certificates for tests',
    usage: ['pki [DIR] [--devices N] [--host H]...', 'pki [DIR] --modbus [--host H]...'],
    examples: [['derbench pki csip-pki', 'The test hierarchy of IEEE 2030.5.']],
    completes: 'files',
    runs: 'itself',
  },
  {
    name: 'gateway',
    group: 'simulate',
    line: 'serves the shards of a fleet at one address',
    usage: ['gateway --fleet URL [FLAGS]'],
    examples: [
      ['derbench gateway --fleet nats://127.0.0.1:4222 -wp 8111', 'REST and the stream of all shards on port 8111.'],
    ],
    runs: 'itself',
  },
];
