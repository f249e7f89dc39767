/** Registers of a storage: models 713 and 802, their measurements and commands. */
import type { BatteryDetail, BatteryParameters } from '../../contract/kinds/battery.ts';
import type { SourceCommand } from '../../contract/device.ts';
import type { Origin } from '../../core/origin.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { ModelChoice, PointSlot } from '../../sunspec/map/layout.ts';
import type { MeasurementView, WritableMapView } from '../../sunspec/map/view.ts';
import { m713 } from '../../sunspec/models/m713.ts';
import { m802 } from '../../sunspec/models/m802.ts';
import { scaleFor } from '../inverter/ratings.ts';
import { cellSpecs } from '../source/battery/cell-spec.ts';

const uint16Max = 65534;
const int16Max = 32767;
/** Points of 802 that the simulated battery does not have. */
const omitted802 = new Set(['DisChaRte', 'CtrlHb', 'StateVnd', 'WarrDt', 'ReqInvState', 'ReqW', 'DisChaRte_SF']);
/** Model 713 of a device without storage: SoC must be 0, and the other points do not apply. */
const storageless713: ModelChoice = {
  def: m713,
  scale: { Pct_SF: -1 },
  omit: new Set(['WHRtg', 'WHAvail', 'SoH', 'Sta']),
};

const seriesCells = ({ modules, cells }: BatteryParameters) => modules * cells;

/** Models 713 and 802 for a storage. @param storage null: no storage */
export function storageModels(storage: BatteryParameters | null): readonly [ModelChoice, ...ModelChoice[]] {
  if (storage === null) return [storageless713];
  const { capacityWh, powerW } = storage;
  const { minV, maxV } = cellSpecs[storage.chemistry];
  const topV = 1.1 * seriesCells(storage) * maxV;
  const maxA = (8 * powerW) / topV;
  const energySf = scaleFor(capacityWh, uint16Max, 0);
  return [
    { def: m713, scale: { WH_SF: energySf, Pct_SF: -1 } },
    {
      def: m802,
      omit: omitted802,
      scale: {
        AHRtg_SF: scaleFor(capacityWh / (seriesCells(storage) * minV), uint16Max, -1),
        WHRtg_SF: energySf,
        WChaDisChaMax_SF: scaleFor(powerW, uint16Max, 0),
        SoC_SF: -1,
        DoD_SF: -1,
        SoH_SF: -1,
        V_SF: scaleFor(topV, uint16Max, -1),
        CellV_SF: -3,
        A_SF: scaleFor(maxA, int16Max, -2),
        AMax_SF: scaleFor(maxA, uint16Max, -2),
        W_SF: scaleFor(1.5 * powerW, int16Max, 0),
      },
    },
  ];
}

/** Start values of the storage registers. */
export function storageDefaults(map: WritableMapView, storage: BatteryParameters): void {
  map.m713.WHRtg = storage.capacityWh;
  if (!map.m802) return;
  const { minV, maxV } = cellSpecs[storage.chemistry];
  Object.assign(map.m802, {
    VMax: seriesCells(storage) * maxV,
    VMin: seriesCells(storage) * minV,
    WHRtg: storage.capacityWh,
    WChaRteMax: storage.powerW,
    WDisChaRteMax: storage.powerW,
    SoCMin: storage.socMinPct,
    SoCMax: storage.socMaxPct,
    SoCRsvMin: storage.socReserveMinPct,
    SocRsvMax: storage.socReserveMaxPct,
    LocRemCtl: 'REMOTE',
    AlmRst: 0,
    Typ: 'LITHIUM_ION',
    SetOp: 'CONNECT',
    SetInvState: 'INVERTER_STARTED',
    Evt2: 0,
    EvtVnd1: 0,
    EvtVnd2: 0,
  });
}

const states = {
  disconnected: 'DISCONNECTED',
  initializing: 'INITIALIZING',
  connected: 'CONNECTED',
  standby: 'STANDBY',
  soc_protection: 'SOC PROTECTION',
  suspending: 'SUSPENDING',
  fault: 'FAULT',
} as const;

function chargeState(d: BatteryDetail): 'OFF' | 'EMPTY' | 'DISCHARGING' | 'CHARGING' | 'FULL' | 'HOLDING' {
  if (d.state === 'disconnected' || d.state === 'fault') return 'OFF';
  if (d.mode === 'charge') return 'CHARGING';
  if (d.mode === 'discharge') return 'DISCHARGING';
  if (d.inhibit === 'soc_floor') return 'EMPTY';
  return d.inhibit === 'soc_ceiling' ? 'FULL' : 'HOLDING';
}

type Evt1 = Extract<(typeof m802)['points'][number], { name: 'Evt1' }>;
const isEvt1 = (point: (typeof m802)['points'][number]): point is Evt1 => point.name === 'Evt1';
/** OTHER_ALARM of 802.Evt1 */
const otherAlarmBit = 25;
const eventBits: Readonly<Record<string, number>> = m802.points.find(isEvt1)?.symbols ?? {};

/** Writes the state of the storage. */
export function publishStorage(map: MeasurementView, d: BatteryDetail): void {
  const { m713: summary, m802: m } = map;
  summary.WHAvail = d.energyAvailableWh;
  summary.SoC = d.socPct;
  summary.SoH = d.sohPct;
  summary.Sta = d.state === 'fault' ? 'ERROR' : d.events.length > 0 ? 'WARNING' : 'OK';
  if (!m) return;
  m.AHRtg = d.ampHourRating;
  m.SoC = d.socPct;
  m.DoD = 100 - d.socPct;
  m.SoH = d.sohPct;
  m.NCyc = Math.floor(d.cycleCount);
  m.SoCRsvMin = d.socReserveMinPct;
  m.SocRsvMax = d.socReserveMaxPct;
  m.ChaSt = chargeState(d);
  m.State = states[d.state];
  m.LocRemCtl = map.m715.LocRemCtl === 'LOCAL' ? 'LOCAL' : 'REMOTE';
  m.Evt1 = d.events.reduce((bits, name) => bits | (1 << (eventBits[name] ?? otherAlarmBit)), 0) >>> 0;
  m.V = d.dcVoltageV;
  m.A = d.dcCurrentA;
  m.W = d.powerW;
  m.CellVMax = d.cellVoltageMaxV;
  m.CellVMaxStr = d.cellVoltageMaxAt.string;
  m.CellVMaxMod = d.cellVoltageMaxAt.module;
  m.CellVMin = d.cellVoltageMinV;
  m.CellVMinStr = d.cellVoltageMinAt.string;
  m.CellVMinMod = d.cellVoltageMinAt.module;
  m.CellVAvg = d.cellVoltageAvgV;
  m.AChaMax = d.maxChargeA;
  m.ADisChaMax = d.maxDischargeA;
}

/** Carries out the commands of a write of 802. */
export class StorageCommands implements CommitParticipant {
  readonly #bank: Bank;
  readonly #storage: BatteryParameters | null;
  readonly #command: (command: SourceCommand, by: Origin) => void;

  /** @param storage null: no storage */
  constructor(bank: Bank, storage: BatteryParameters | null, command: (command: SourceCommand, by: Origin) => void) {
    this.#bank = bank;
    this.#storage = storage;
    this.#command = command;
  }

  prepare({ effective, by }: Commit): FollowUp | null {
    const points = effective.filter(({ modelId }) => modelId === m802.id);
    if (points.length === 0) return null;
    return () => {
      this.#carryOut(points, by);
    };
  }

  /** Carries out the commands of the start values, as if written. */
  reloaded(points: readonly PointSlot[], by: Origin): void {
    this.#carryOut(
      points.filter(({ modelId }) => modelId === m802.id),
      by,
    );
  }

  #carryOut(points: readonly PointSlot[], by: Origin): void {
    const registers = this.#bank.map.m802;
    if (!registers || !this.#storage) return;
    const written = (...paths: readonly string[]) => points.some(({ path }) => paths.includes(path));
    const { socMinPct, socMaxPct } = this.#storage;
    // registers are rounded: a register at its bound must not exceed the exact bound
    const within = (pct: number | null, fallback: number) => Math.max(socMinPct, Math.min(socMaxPct, pct ?? fallback));
    if (written('SetOp')) this.#command({ kind: 'battery.connect', connect: registers.SetOp === 'CONNECT' }, by);
    if (!written('SoCRsvMin', 'SocRsvMax')) return;
    this.#command(
      {
        kind: 'battery.reserve',
        minPct: within(registers.SoCRsvMin, socMinPct),
        maxPct: within(registers.SocRsvMax, socMaxPct),
      },
      by,
    );
  }
}
