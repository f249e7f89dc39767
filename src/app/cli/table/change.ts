/** Commands that change a running simulator. */
import type { Command, CommandOption } from './command.ts';

const forSeconds: CommandOption = {
  flag: '--for',
  value: 'TIME',
  line: 'ends by itself after 60s, 5min or 1h, simulated',
};

export const changeCommands: readonly Command[] = [
  {
    name: 'set',
    group: 'change',
    line: 'writes points, all or none of a model',
    usage: ['set POINT=VALUE [POINT=VALUE ...]'],
    examples: [
      ['derbench set 704.WMaxLimPct=50 704.WMaxLimPctEna=ENABLED', 'Numbers in the unit of the point.'],
      ['derbench set 702.VMax=500 --device 1', 'Prints the value before and after.'],
    ],
    runs: 'client',
    changes: true,
  },
  {
    name: 'limit',
    group: 'change',
    line: 'limits active power of a device, or the export',
    usage: ['limit PERCENT|POWERkW|off', 'limit --export POWERkW|off'],
    options: [
      forSeconds,
      { flag: '--export', value: 'POWER', line: 'limit of the export of the site instead: 30kW, off' },
    ],
    examples: [
      ['derbench limit 50 % --for 600 s', '704.WMaxLimPct, which reverts after 10 minutes.'],
      ['derbench limit 5kW --device 1', 'In percent of 702.WMax of the device; also W and MW.'],
      ['derbench limit --export 30kW', 'The limit of the connection point.'],
    ],
    runs: 'client',
    changes: true,
  },
  {
    name: 'grid',
    group: 'change',
    line: 'sets voltage and frequency, or starts an event',
    usage: ['grid', 'grid NAME=VALUE [NAME=VALUE ...]', 'grid EVENT [--param NAME=VALUE]...', 'grid normal'],
    options: [forSeconds, { flag: '--param', value: 'NAME=VALUE', line: 'a parameter of the event', repeats: true }],
    examples: [
      ['derbench grid voltage=0.9 frequency=59.5', 'Per unit and Hz; other names as in POST controls/grid.'],
      ['derbench grid sag --param residual_pu=0.4', 'An event of "derbench list events".'],
      ['derbench grid normal', 'Voltage 1, nominal frequency, no event, no outage.'],
    ],
    completes: 'events',
    runs: 'client',
    changes: true,
  },
  {
    name: 'weather',
    group: 'change',
    line: 'sets irradiance, temperature and load',
    usage: ['weather', 'weather NAME=VALUE [NAME=VALUE ...]'],
    options: [forSeconds],
    examples: [
      ['derbench weather irradiance=300 --for 60', 'W/m2 in the plane of the array.'],
      ['derbench weather irradiance=none', 'Back to the source of the irradiance.'],
    ],
    completes: ['irradiance=', 'temperature=', 'cell=', 'load='],
    runs: 'client',
    changes: true,
  },
  {
    name: 'plug',
    group: 'change',
    line: 'plugs a vehicle in',
    usage: ['plug [STATION]'],
    options: [{ flag: '--soc', value: 'PERCENT', line: 'state of charge of the vehicle' }],
    examples: [['derbench plug 5 --soc 40', 'Station of device 5; also by its name, and SIM-CP-1:2.']],
    notes: ['STATION: index of the device or name of the station, with :CONNECTOR; default connector 1 of the first.'],
    runs: 'client',
    changes: true,
  },
  ...(
    [
      ['unplug', 'takes the cable out'],
      ['charge', 'starts charging, or continues it after pause'],
      ['pause', 'pauses charging; the session stays'],
    ] as const
  ).map(
    ([name, line]): Command => ({
      name,
      group: 'change',
      line,
      usage: [`${name} [STATION]`],
      examples: [[`derbench ${name} SIM-CP-1`, 'Connector 1 of the station.']],
      runs: 'client',
      changes: true,
    }),
  ),
  {
    name: 'fault',
    group: 'change',
    line: 'injects, lists and clears faults',
    usage: ['fault KIND [NAME=VALUE ...]', 'fault list', 'fault clear'],
    options: [forSeconds],
    examples: [
      ['derbench fault scale points=701.W factor=0.5', 'A kind of "derbench list faults".'],
      ['derbench fault delay protocol=ocpp delay_ms=3000', 'With the protocol where several have the kind.'],
    ],
    completes: 'faults',
    runs: 'client',
    changes: true,
  },
  {
    name: 'time',
    group: 'change',
    line: 'shows, pauses, speeds up or steps the clock',
    usage: ['time', 'time pause|run|xRATE', 'time step [TICKS|TIME]'],
    examples: [
      ['derbench time x60', 'One simulated minute per second.'],
      ['derbench time step 30s', 'Ticks of the paused clock; also 5min and 1h.'],
    ],
    notes: ['run goes on at x1, with or without a pause before. A TIME without a unit is a number of ticks.'],
    completes: ['pause', 'run', 'step'],
    runs: 'client',
    changes: true,
  },
];
