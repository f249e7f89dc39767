/** Metrics of the snapshot, from the models of a device. */
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import type { FoundModel, ModelReading, PointReading, RemoteMetrics } from '../../contract/sunspec-client.ts';

/** Models of the AC side in order of preference; only the first present one counts. */
const acModels = [701, 103, 102, 101, 113, 112, 111];
/** The other models that the summary reads. */
const otherModels = [713, 714, 802, 122, 124, 160];

/** The models of a device from which the summary is made. */
export function summaryModels(models: readonly FoundModel[]): number[] {
  const present = (id: number) => models.some((model) => model.id === id);
  const ac = acModels.find(present);
  return [...(ac === undefined ? [] : [ac]), ...otherModels.filter(present)];
}

export function isSummaryModel(id: number): boolean {
  return acModels.includes(id) || otherModels.includes(id);
}

type Find = (modelId: number, path: string) => PointReading | undefined;

function finder(readings: readonly ModelReading[]): Find {
  return (modelId, path) => {
    const reading = readings.find(({ id, index }) => id === modelId && index === 0);
    const dot = path.lastIndexOf('.');
    const points =
      dot < 0 ? reading?.points : reading?.groups.find((group) => group.path === path.slice(0, dot))?.points;
    return points?.find(({ name }) => name === path);
  };
}

function rounded(value: number): number {
  return Math.abs(value) < 1e9 ? Math.round(value * 1e6) / 1e6 + 0 : value;
}

/** A point that can hold a quantity, and its divisor. */
type Place = readonly [modelId: number, path: string, divisor?: number];

const olderModels = (path: string, divisor?: number): Place[] =>
  acModels.slice(1).map((id): Place => (divisor === undefined ? [id, path] : [id, path, divisor]));

/** The places of each quantity, in order of preference. */
const places: Readonly<Record<string, readonly Place[]>> = {
  power_kw: [[701, 'W', 1000], ...olderModels('W', 1000)],
  reactive_power_kvar: [[701, 'Var', 1000], ...olderModels('VAr', 1000)],
  apparent_power_kva: [[701, 'VA', 1000], ...olderModels('VA', 1000)],
  voltage_ll_v: [[701, 'LLV'], ...olderModels('PPVphAB')],
  voltage_ln_v: [[701, 'LNV'], ...olderModels('PhVphA')],
  current_a: [[701, 'A'], ...olderModels('A')],
  frequency_hz: [[701, 'Hz'], ...olderModels('Hz')],
  // the older models hold the power factor in percent
  power_factor: [[701, 'PF'], ...olderModels('PF', 100)],
  dc_power_kw: [[714, 'DCW', 1000], ...olderModels('DCW', 1000)],
  dc_voltage_v: [[714, 'Prt[0].DCV'], ...olderModels('DCV'), [160, 'module[0].DCV']],
  dc_current_a: [[714, 'DCA'], ...olderModels('DCA'), [160, 'module[0].DCA']],
  state_of_charge_pct: [
    [713, 'SoC'],
    [802, 'SoC'],
    [124, 'ChaState'],
  ],
  soc_reserve_min_pct: [
    [802, 'SoCRsvMin'],
    [124, 'MinRsvPct'],
  ],
  soc_reserve_max_pct: [[802, 'SocRsvMax']],
  soc_min_pct: [[802, 'SoCMin']],
  soc_max_pct: [[802, 'SoCMax']],
};

function quantity(find: Find, name: string): number | null {
  for (const [id, path, divisor = 1] of places[name] ?? []) {
    const value = find(id, path)?.value;
    if (typeof value === 'number') return rounded(value / divisor);
  }
  return null;
}

/** A symbol as a word of the simulator; older models say MPPT for running. */
function word<T extends string>(words: readonly T[], symbol: string | null | undefined): T | null {
  const name = symbol === 'MPPT' ? 'running' : symbol?.toLowerCase();
  return words.find((each) => each === name) ?? null;
}

function inverterState(find: Find): RemoteMetrics['inverter_state'] {
  const symbol =
    find(701, 'InvSt')?.symbol ??
    acModels
      .slice(1)
      .map((id) => find(id, 'St')?.symbol)
      .find((each) => typeof each === 'string');
  return word(inverterStates, symbol);
}

function connectionState(find: Find): RemoteMetrics['connection_state'] {
  const bits = find(122, 'ECPConn')?.bits;
  const older = bits === undefined ? null : bits.includes('CONNECTED') ? 'connected' : 'disconnected';
  return word(connectionStates, find(701, 'ConnSt')?.symbol) ?? older;
}

/** @returns the metrics contained in one round of readings; null for the others */
export function metricsOf(readings: readonly ModelReading[]): RemoteMetrics {
  const find = finder(readings);
  const of = (name: string) => quantity(find, name);
  return {
    power_kw: of('power_kw'),
    reactive_power_kvar: of('reactive_power_kvar'),
    apparent_power_kva: of('apparent_power_kva'),
    voltage_ll_v: of('voltage_ll_v'),
    voltage_ln_v: of('voltage_ln_v'),
    current_a: of('current_a'),
    frequency_hz: of('frequency_hz'),
    power_factor: of('power_factor'),
    dc_power_kw: of('dc_power_kw') ?? sumOfInputs(readings),
    dc_voltage_v: of('dc_voltage_v'),
    dc_current_a: of('dc_current_a'),
    // without storage 713 holds 0, which is not a state of charge
    state_of_charge_pct: withoutStorage(find) ? null : of('state_of_charge_pct'),
    soc_reserve_min_pct: of('soc_reserve_min_pct'),
    soc_reserve_max_pct: of('soc_reserve_max_pct'),
    soc_min_pct: of('soc_min_pct'),
    soc_max_pct: of('soc_max_pct'),
    service_state: word(serviceStates, find(701, 'St')?.symbol),
    inverter_state: inverterState(find),
    connection_state: connectionState(find),
  };
}

/** Sum of the inputs in model 160, which has no total. */
function sumOfInputs(readings: readonly ModelReading[]): number | null {
  const inputs =
    readings
      .find(({ id }) => id === 160)
      ?.groups.flatMap(({ points }) => points.filter(({ name }) => name.endsWith('.DCW'))) ?? [];
  const powers = inputs.flatMap(({ value }) => (typeof value === 'number' ? [value] : []));
  return powers.length > 0 ? rounded(powers.reduce((sum, power) => sum + power, 0) / 1000) : null;
}

function withoutStorage(find: Find): boolean {
  return find(713, 'SoC') !== undefined && find(713, 'WHRtg')?.implemented !== true && find(802, 'SoC') === undefined;
}
