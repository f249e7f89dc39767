/** The points of the DER profile of DNP3 by function, as docs/reference/dnp3-points.md shows them, and why some are absent. */
import type { PointType } from '../src/dnp3/profile/types.ts';

/** First and last index of a type. */
export type IndexRange = readonly [type: PointType, from: number, to?: number];

export interface PointGroup {
  readonly title: string;
  readonly text?: string;
  readonly ranges: readonly IndexRange[];
  /** of the points that no device has */
  readonly absence?: string;
}

const noCounterpart = 'neither a register nor physics of the simulator stands behind it';
const onlyMeter = 'the meter of the device is the only one';
const ownResponse = 'the function follows its response time, and no ramp';
const movingAim = 'its aim moves with active power: it follows 704.VarRmp or the gradient, and has no time to arrive';
const noFunction = 'the simulator has no such function';
const responseTimes = 'the function has no response time of its own';

/** Reasons by point, where they differ from the one of the group. */
export const absences: readonly (readonly [reason: string, ...ranges: IndexRange[]])[] = [
  [onlyMeter, ['BI', 106]],
  ['the surroundings of a battery have no alarm', ['BI', 9]],
  ['SunSpec has no such rating', ['AI', 7], ['AI', 10]],
  ['the register maps of the simulator leave this setting out', ['AI', 37, 39]],
  ['the publications give it the unit of a voltage', ['AI', 78]],
  ['its codes are not published', ['AI', 49]],
  ['islands are not simulated', ['BI', 25, 26], ['BO', 6, 7]],
  ['time constants are those of the registers', ['BI', 28], ['BO', 9]],
  ['capacities are always in Wh', ['BO', 8]],
  [onlyMeter, ['AI', 71], ['AO', 22], ['AI', 77], ['AO', 27], ['AI', 119], ['AO', 61], ['AI', 146], ['AO', 86]],
  [onlyMeter, ['AI', 246], ['AO', 172], ['AI', 294], ['AO', 216], ['AI', 306], ['AO', 225]],
  [
    ownResponse,
    ['AI', 117],
    ['AO', 59],
    ['AI', 133, 136],
    ['AO', 74, 77],
    ['BI', 92],
    ['BO', 40],
    ['AI', 244],
    ['AO', 170],
    ['AI', 253, 256],
    ['AO', 177, 180],
    ['AI', 292],
    ['AO', 214],
  ],
  [movingAim, ['AI', 286], ['AO', 208], ['AI', 304], ['AO', 223]],
  ['the ramp rate always acts', ['BI', 90], ['BO', 38]],
  [responseTimes, ['AI', 155, 156], ['AO', 94, 95]],
  [responseTimes, ['AI', 282, 283], ['AO', 204, 205], ['AI', 309, 310], ['AO', 227, 228]],
];

const mode = (
  title: string,
  enable: number,
  outputs: readonly [number, number],
  inputs: readonly [number, number],
  more: Partial<Pick<PointGroup, 'text' | 'absence'>> & { readonly ranges?: readonly IndexRange[] } = {},
): PointGroup => ({
  title: `${title} (BO${enable})`,
  ...more,
  ranges: [
    ['BO', enable],
    ['BI', enable + 19],
    ['BI', enable + 52],
    ...(more.ranges ?? []),
    ['AO', ...outputs],
    ['AI', ...inputs],
  ],
});

const unsupported = (
  title: string,
  enable: number,
  outputs: readonly [number, number],
  inputs: readonly [number, number],
  ranges: readonly IndexRange[] = [],
) => mode(title, enable, outputs, inputs, { ranges, absence: noFunction });

export const pointGroups: readonly PointGroup[] = [
  {
    title: 'Alarms and states',
    ranges: [
      ['BI', 0, 10],
      ['BI', 12, 14],
      ['BI', 18, 22],
      ['BI', 24],
      ['AI', 49],
    ],
  },
  {
    title: 'Protection',
    text: 'Blocked: the function is disabled. Started: one of its timers runs. Operated: it has tripped, and its alarm stands.',
    ranges: [['BI', 52, 63]],
  },
  {
    title: 'Meter',
    text:
      'Power that the device delivers is positive. Powers are compared with their thresholds by magnitude. The thresholds start ' +
      'where nothing is beyond them. Counters are never cleared; they are in class 0, and frozen ones (g21) in class 3.',
    ranges: [
      ['AI', 533, 556],
      ['CTR', 0, 3],
      ['AI', 43, 48],
      ['AO', 449, 460],
      ['AI', 557, 568],
      ['BI', 94, 106],
    ],
  },
  { title: 'Nameplate', ranges: [['AI', 0, 28]] },
  {
    title: 'Settings',
    text:
      'AO1 to AO4 take the value that they have, and no other. AO5 chooses the reference of AO203: 1 WMax, 2 VarMax, ' +
      '3 available reactive power.',
    ranges: [
      ['AO', 0, 5],
      ['AI', 29, 42],
      ['AI', 62, 65],
      ['BO', 6, 9],
      ['BI', 25, 28],
    ],
  },
  {
    title: 'Connect, cease to energize, enter service',
    text:
      'BO5 moves the switch, BO2 stops the device and BO1 starts it again; each obeys its time window, and BO2 and BO5 their ' +
      'reversion time. BO0 stops the device and keeps it from starting and connecting. Without permission (BO3, BO4) a control is ' +
      'answered with status 15. AO14 is the time in which power ramps down.',
    ranges: [
      ['BO', 0, 5],
      ['BI', 11],
      ['BI', 15, 17],
      ['BI', 23],
      ['AO', 6, 17],
      ['AI', 50, 61],
    ],
  },
  mode('Voltage ride-through', 12, [22, 26], [71, 76], {
    text: 'A curve setting of 0 leaves the curve of the registers in force.',
  }),
  mode('Frequency ride-through', 13, [27, 31], [77, 82]),
  mode('Frequency-watt: droop', 16, [57, 81], [115, 141], {
    text:
      'Start frequencies are distances from the nominal one. A gradient is 1 / K of model 711: percent of power per percent of ' +
      'frequency.',
    ranges: [
      ['BO', 34, 35],
      ['BI', 86, 87],
    ],
  }),
  mode('Active power limit', 17, [82, 88], [142, 149], {
    text:
      'With `--dnp3_profile ieee1815.2` AO87 and AI148 are the maximum of active power (704.WMaxLimPct), and AO88 and AI149, its ' +
      'minimum, are absent. AO84 is the time in which power reaches a limit.',
  }),
  mode('Charge/discharge', 18, [89, 101], [150, 162], {
    text:
      'AO91 is the time in which power reaches a set-point. The four rates of AO96 to AO99 are one: the slope of the device, for ' +
      'both directions. AI154 is online in percent also where another protocol has set watts.',
    ranges: [
      ['BO', 38],
      ['BI', 90],
    ],
  }),
  mode('Volt-watt', 25, [168, 180], [242, 256], {
    ranges: [
      ['BO', 40],
      ['BI', 92],
    ],
  }),
  mode('Constant var', 27, [199, 205], [277, 283], {
    text: 'AO201 is the time in which reactive power reaches a set-point. AI281 is not online while AI42 is 0.',
  }),
  mode('Fixed power factor', 28, [206, 211], [284, 289], {
    text: 'Excitation: 0 injects reactive power, 1 absorbs it.',
    ranges: [
      ['BO', 10, 11],
      ['BI', 29, 30],
    ],
  }),
  mode('Volt-var', 29, [212, 220], [290, 301], {
    ranges: [
      ['BO', 41],
      ['BI', 93],
    ],
  }),
  mode('Watt-var', 30, [221, 228], [302, 311]),
  {
    title: 'Curves',
    text:
      'One window on 100 curves: AO244 says which one it shows. A device without a function that follows curves has no window. ' +
      'Steps of the points: percent and volts 0.1, watts 1, time 1 ms. AO246 commits what has been written.',
    ranges: [
      ['AO', 244, 448],
      ['AI', 328, 532],
      ['BI', 107],
    ],
  },
  {
    title: 'Schedules',
    text:
      'One window on 10 schedules: AO461 says which one it shows. With `--dnp3_profile ieee1815.2` all of them are absent. ' +
      'Values have the steps of the output of their type.',
    ranges: [
      ['BO', 42, 49],
      ['BI', 108, 116],
      ['AO', 461, 669],
      ['AI', 569, 783],
    ],
  },
  unsupported(
    'Dynamic reactive current support',
    14,
    [32, 47],
    [83, 101],
    [
      ['BO', 33],
      ['BI', 85],
    ],
  ),
  unsupported('Dynamic volt-watt', 15, [48, 56], [102, 114]),
  unsupported('Coordinated charge/discharge', 19, [102, 114], [163, 175]),
  unsupported('Active power response 1', 20, [115, 123], [176, 186]),
  unsupported('Active power response 2', 21, [124, 132], [187, 197]),
  unsupported('Active power response 3', 22, [133, 141], [198, 208]),
  unsupported(
    'Automatic generation control',
    23,
    [142, 154],
    [209, 226],
    [
      ['BO', 39],
      ['BI', 91],
    ],
  ),
  unsupported('Active power smoothing', 24, [155, 167], [227, 241]),
  unsupported(
    'Frequency-watt curve',
    26,
    [181, 198],
    [257, 276],
    [
      ['BO', 36, 37],
      ['BI', 88, 89],
    ],
  ),
  unsupported('Power factor correction', 31, [229, 236], [312, 320]),
  unsupported('Pricing', 32, [237, 243], [321, 327]),
  {
    title: 'Settings groups and timed freezes',
    absence: 'there is one group of settings; masters freeze counters with function codes',
    ranges: [
      ['AO', 18, 21],
      ['AI', 66, 70],
    ],
  },
];

/** Why a point is absent. */
export function absenceOf(type: PointType, index: number, group: PointGroup): string {
  const own = absences.find(([, ...ranges]) =>
    ranges.some(([of, from, to = from]) => of === type && index >= from && index <= to),
  );
  return own?.[0] ?? group.absence ?? noCounterpart;
}
