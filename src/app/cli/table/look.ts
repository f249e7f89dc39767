/** Commands that read a running simulator. */
import type { Command } from './command.ts';

export const lookCommands: readonly Command[] = [
  {
    name: 'devices',
    group: 'look',
    line: 'lists the devices with power, charge and address',
    usage: ['devices'],
    examples: [['derbench devices', 'One line for each device.']],
    runs: 'client',
  },
  {
    name: 'get',
    group: 'look',
    line: 'reads points, such as 701.W or 704.*',
    usage: ['get POINT [POINT ...]'],
    examples: [
      ['derbench get 701.W 701.Var', 'Two points of device 0.'],
      ["derbench get '704.*' --device 2", 'All points of a model.'],
    ],
    notes: ['A member of the snapshot, such as metrics.power_kw, can stand in the place of POINT.'],
    runs: 'client',
  },
  {
    name: 'why',
    group: 'look',
    line: 'says why a device has its power',
    usage: ['why', 'why --all'],
    options: [{ flag: '--all', line: 'every device and every connector' }],
    examples: [['derbench why --all', 'One sentence for each device and connector.']],
    runs: 'client',
  },
  {
    name: 'findings',
    group: 'look',
    line: 'lists broken rules, alarms and undone commands',
    usage: ['findings'],
    examples: [['derbench findings --device 1', 'Undone commands of device 1 only.']],
    notes: [
      'It joins the rules that peers broke, what needs attention, and the accepted commands that are not in force.',
    ],
    runs: 'client',
  },
  {
    name: 'wait',
    group: 'look',
    line: 'waits until a point has a value; exit code 4 else',
    usage: ["wait POINT '<=' VALUE"],
    options: [{ flag: '--timeout', value: 'TIME', line: 'time limit: 60s, 5min, 1h (default 60s)' }],
    examples: [
      ["derbench wait '701.W <= 5000'", 'Steps a paused clock, waits for a running one.'],
      ['derbench wait 701.InvSt = RUNNING --timeout 300', 'A name of an enumeration.'],
    ],
    notes: [
      'Operators: = != < <= > >=. A shell needs quotes around < and >. On a paused clock the limit is simulated time.',
      'A member of the snapshot, such as metrics.power_kw, can stand in the place of POINT.',
    ],
    runs: 'client',
    changes: true,
  },
  {
    name: 'watch',
    group: 'look',
    line: 'prints points at each tick',
    usage: ['watch POINT [POINT ...]'],
    options: [
      { flag: '-n', value: 'N', line: 'ends after N lines' },
      { flag: '--every', value: 'TIME', line: 'time between lines, simulated (default: each tick)' },
    ],
    examples: [['derbench watch 701.W 701.Var -n 10', 'Ten ticks; --json prints a document per line.']],
    runs: 'client',
  },
  {
    name: 'health',
    group: 'look',
    line: 'exit code 0 if the simulator runs as it should',
    usage: ['health'],
    examples: [['derbench health --quiet', 'For health checks of containers.']],
    notes: ['Exit code 1: degraded, stalled, stopping, or no answer of a simulator within 2 s.'],
    runs: 'client',
  },
];
