/** The table of functions: the settings that enable each, and operating points below, in and above its region. */
import type { Kind, Limits, Pairs, Plan, Reactive, Stimulus } from './interaction-plan.ts';
import { restPlan } from './interaction-plan.ts';

export interface FunctionRow {
  readonly name: string;
  /** absent: every kind has it */
  readonly only?: Kind;
  readonly on: (plan: Plan) => Plan;
  readonly visits: (kind: Kind) => readonly Stimulus[];
}

const powers = (kind: Kind): readonly Stimulus[] =>
  (kind === 'pv' ? [0.12, 0.5, 1.2] : [-0.9, 0.1, 0.9]).map((power) => ({ power }));

const voltVarPoints: Pairs = [
  [92, 55],
  [98, 0],
  [102, 0],
  [108, -55],
];
const wattVarPoints: Pairs = [
  [-100, 44],
  [-50, 0],
  [-20, 0],
  [20, 0],
  [50, 0],
  [100, -44],
];
const voltages: readonly Stimulus[] = [{ v: 0.94 }, { v: 1.01 }, { v: [1.04, 1.06, 1.09] }];
/** volt-watt down to 20 %, as in the priority test */
const voltWattPoints: Pairs = [
  [106, 100],
  [110, 20],
];

/** Adds a reactive function at the end; the same one again has new values only. */
const reactive = (name: string, f: Reactive, visits: FunctionRow['visits'], only?: Kind): FunctionRow => ({
  name,
  visits,
  ...(only && { only }),
  on: (plan) => ({ ...plan, reactive: [...plan.reactive.filter((other) => other.name !== f.name), f] }),
});

const limits = (name: string, change: Partial<Limits>, visits: FunctionRow['visits'], only?: Kind): FunctionRow => ({
  name,
  visits,
  ...(only && { only }),
  on: (plan) => ({ ...plan, limits: { ...plan.limits, ...change } }),
});

const protection = (
  name: string,
  side: keyof Plan['trips'],
  what: Partial<{ must: Pairs; cease: Pairs }>,
  visits: readonly Stimulus[],
): FunctionRow => ({
  name,
  visits: () => visits,
  on: (plan) => ({
    ...plan,
    trips: { ...plan.trips, [side]: { ...(plan.trips[side] ?? { must: null, cease: [] }), ...what } },
  }),
});

const activeRows: readonly FunctionRow[] = [
  { name: 'max_power', on: (plan) => ({ ...plan, limitPct: 50 }), visits: powers },
  {
    name: 'active_power percent',
    on: (plan) => ({ ...plan, setPoint: { mode: 'W_MAX_PCT', value: 0.4 } }),
    visits: powers,
  },
  { name: 'active_power watts', on: (plan) => ({ ...plan, setPoint: { mode: 'WATTS', value: 0.7 } }), visits: powers },
  {
    name: 'volt_watt',
    on: (plan) => ({ ...plan, voltWatt: { points: voltWattPoints, ofAvailable: false } }),
    visits: () => [{ v: 1.05 }, { v: 1.08 }, { v: 1.12 }],
  },
  {
    name: 'volt_watt of available',
    on: (plan) => ({
      ...plan,
      voltWatt: {
        points: [
          [103, 100],
          [106, 0],
        ],
        ofAvailable: true,
      },
    }),
    visits: () => [{ v: 1.02 }, { v: 1.04 }, { v: 1.05, power: 0.6 }],
  },
  {
    name: 'volt_watt down to charging',
    only: 'store',
    on: (plan) => ({
      ...plan,
      voltWatt: {
        points: [
          [106, 100],
          [110, -100],
        ],
        ofAvailable: false,
      },
    }),
    visits: () => [{ v: 1.05 }, { v: 1.085 }, { v: 1.12 }],
  },
  {
    name: 'freq_droop over',
    on: (plan) => ({
      ...plan,
      droop: { overBandHz: 0.036, underBandHz: 5, overDroop: 0.05, underDroop: 0.05, minPct: 0, ...under(plan) },
    }),
    visits: (kind) => [{ hz: 0.03 }, { hz: 0.6 }, { hz: 1.9, power: kind === 'pv' ? 0.5 : -0.6 }],
  },
  {
    name: 'freq_droop under',
    on: (plan) => ({
      ...plan,
      droop: { overBandHz: 5, underBandHz: 0.036, overDroop: 0.05, underDroop: 0.04, minPct: -100, ...over(plan) },
    }),
    visits: (kind) => [
      { hz: -0.03 },
      { hz: -0.6, power: kind === 'pv' ? 0.8 : 0.3 },
      { hz: -1.4, power: kind === 'pv' ? 1.2 : -0.6 },
    ],
  },
];

const under = ({ droop }: Plan) => droop && { underBandHz: droop.underBandHz, underDroop: droop.underDroop };
const over = ({ droop }: Plan) =>
  droop && { overBandHz: droop.overBandHz, overDroop: droop.overDroop, minPct: droop.minPct };

const constant = (
  mode: Extract<Reactive, { name: 'constant_var' }>['mode'],
  pct: number,
  priority: 'ACTIVE' | 'REACTIVE',
) => reactive(`constant_var ${mode}`, { name: 'constant_var', mode, pct, priority }, powers);

const reactiveRows: readonly FunctionRow[] = [
  reactive('pf_inject', { name: 'pf_inject', side: { pf: 0.9, over: true } }, powers),
  reactive('pf_absorb', { name: 'pf_absorb', side: { pf: 0.85, over: false } }, powers, 'store'),
  constant('W_MAX_PCT', 55, 'ACTIVE'),
  constant('VAR_MAX_PCT', -90, 'REACTIVE'),
  constant('VAR_AVAIL_PCT', 70, 'REACTIVE'),
  constant('VA_MAX_PCT', -52, 'ACTIVE'),
  constant('VARS', 56, 'REACTIVE'),
  reactive(
    'volt_var reactive first',
    { name: 'volt_var', points: voltVarPoints, base: 'VA_MAX_PCT', priority: 'REACTIVE', vRefPct: 100 },
    () => voltages,
  ),
  reactive(
    'volt_var active first',
    { name: 'volt_var', points: voltVarPoints, base: 'VA_MAX_PCT', priority: 'ACTIVE', vRefPct: 103 },
    () => voltages,
  ),
  reactive(
    'watt_var',
    { name: 'watt_var', points: wattVarPoints, base: 'VA_MAX_PCT', priority: 'REACTIVE' },
    powers,
    'store',
  ),
  reactive(
    'watt_var',
    { name: 'watt_var', points: wattVarPoints.filter(([w]) => w > 0), base: 'VA_MAX_PCT', priority: 'REACTIVE' },
    powers,
    'pv',
  ),
];

const protectionRows: readonly FunctionRow[] = [
  protection(
    'lv_trip',
    'lowV',
    {
      must: [
        [50, 2],
        [88, 21],
      ],
    },
    [{ v: 0.9 }, { v: 0.6 }, { v: [1, 0.6, 1], holdS: 25 }],
  ),
  protection(
    'hv_trip',
    'highV',
    {
      must: [
        [120, 0.16],
        [110, 13],
      ],
    },
    [{ v: 1.09 }, { v: 1.15 }, { v: 1.15, holdS: 15 }],
  ),
  protection(
    'lf_trip',
    'lowF',
    {
      must: [
        [-3.5, 0.16],
        [-1.5, 300],
      ],
    },
    [{ hz: -1.2 }, { hz: -2 }, { hz: -3.6 }],
  ),
  protection(
    'hf_trip',
    'highF',
    {
      must: [
        [2, 0.16],
        [1.2, 300],
      ],
    },
    [{ hz: 1 }, { hz: 1.5 }, { hz: 2.2 }],
  ),
  protection('low momentary cessation', 'lowV', { cease: [[65, 0.2]] }, [
    { v: 0.7 },
    { v: [0.55, 0.9, 0.9] },
    { v: 0.4 },
  ]),
  protection('high momentary cessation', 'highV', { cease: [[112.5, 0.2]] }, [
    { v: 1.11 },
    { v: [1, 1, 1.14] },
    { v: 1.18 },
  ]),
  {
    name: 'anti_islanding',
    on: (plan) => ({ ...plan, antiIslanding: true }),
    visits: () => [{}, { island: true, holdS: 1.4 }, { island: true }],
  },
];

const otherRows: readonly FunctionRow[] = [
  {
    name: 'enter_service',
    on: (plan) => plan,
    visits: () => [{ returning: 'waiting' }, { returning: 'ramping' }, { returning: 'done' }],
  },
  limits('WMax', { wMax: 0.8 }, powers),
  limits('VAMax', { vaMax: 0.7 }, powers),
  limits('VarMax', { varInject: 0.3, varAbsorb: 0.2 }, powers),
  limits('AMax', { current: 0.75 }, powers),
  limits('VNom', { vNom: 0.97 }, () => [{ v: 0.93 }, { v: 1 }, { v: 1.07 }]),
  limits('WChaRteMax', { charge: 0.5 }, powers, 'store'),
];

export const functionRows: readonly FunctionRow[] = [...activeRows, ...reactiveRows, ...protectionRows, ...otherRows];

export const rowsOf = (kind: Kind) => functionRows.filter(({ only }) => only === undefined || only === kind);

/** Both at once; the later overrides the earlier, and the longer time counts. */
function merged(a: Stimulus, b: Stimulus): Stimulus {
  const holds = [a.holdS, b.holdS].filter((hold) => hold !== undefined);
  return { ...a, ...b, ...(holds.length > 0 && { holdS: Math.max(...holds) }) };
}

/** Every place of one function with every place of the other, each once. */
export function visitsOf(kind: Kind, a: FunctionRow, b: FunctionRow): readonly Stimulus[] {
  const all = a
    .visits(kind)
    .flatMap((x) => b.visits(kind).flatMap((y) => (a === b ? [x] : [merged(x, y), merged(y, x)])));
  return [...new Map(all.map((stimulus) => [JSON.stringify(Object.entries(stimulus).sort()), stimulus])).values()];
}

export const planOf = (...rows: readonly FunctionRow[]): Plan => rows.reduce((plan, { on }) => on(plan), restPlan);
