/**
 * The charging station behind an OCPP client, from a device and its register map, and its DER controls (block R): the
 * only file that uses both OCPP stations and SunSpec registers.
 */
import { pointNumber, hasPoint, pointValue } from '../sunspec/map/bank.ts';
import { slopeState } from '../contract/device.ts';
import type { Device } from '../contract/device.ts';
import type { EvseConnectorDetail, EvseDetail } from '../contract/kinds/evse.ts';
import type { Plant } from '../contract/plant.ts';
import { SimError } from '../core/errors.ts';
import { maxPhaseCurrentA } from './charging/composite.ts';
import { connectorSample, stationSample } from './meter-values.ts';
import type { GridMeter } from './meter-values.ts';
import type {
  ConnectorRating,
  StationNameplate,
  StationPort,
  DerCondition,
  DerPort,
  DerService,
  DerTrip,
  DerHold,
} from './station/port.ts';
import type { ServiceTransition } from '../contract/grid-trace.ts';
import { keptParts } from '../core/kept.ts';
import type { Kept } from '../core/kept.ts';
import { CommandHold } from '../core/command-hold.ts';
import type { ControlValue } from '../core/command-hold.ts';
import type { JsonValue } from '../core/store.ts';
import type { SimTime } from '../core/time/clock.ts';
import { isSupported } from '../sunspec/map/grid-support/state.ts';
import { functionTable } from '../sunspec/map/grid-support/functions.ts';
import type { TripName } from '../sunspec/map/grid-support/functions.ts';
import { hasCurve, inRegisters, place } from '../sunspec/map/grid-support/wish.ts';
import { PointHolds, written } from '../sunspec/map/point-holds.ts';
import type { Written } from '../sunspec/map/point-holds.ts';

/** Restores a part at once, and keeps it with the registers from then on. @returns ends the keeping */
type Keep = (part: Kept) => () => void;

/** Members of the plant that DER controls use. */
type DerPlant = Pick<Plant, 'onTick'>;

const tripNames: readonly TripName[] = ['lv_trip', 'hv_trip', 'lf_trip', 'hf_trip'];

/** Values of `GridTraceRow.service`. */
const services: Readonly<Record<string, DerService>> = {
  in_service: 'in_service',
  momentary_cessation: 'ceased',
  tripped: 'tripped',
  waiting: 'limited',
  ramping: 'limited',
};

const source = 'ocpp';

class StationDer implements DerPort {
  isSettled = true;
  readonly #device: Device;
  readonly #plant: DerPlant;
  readonly #points: PointHolds;
  readonly #slope: CommandHold<number | null>;
  readonly #restarted = new Set<() => void>();
  readonly #unsubscribe: readonly (() => void)[];
  readonly #save: () => JsonValue;
  readonly #endKeeping: () => void;
  /** the holds that stay in force after `close`, for the last save of the registers; null: not closed */
  #atClose: JsonValue | null = null;

  constructor(device: Device, plant: DerPlant, keep?: Keep) {
    this.#device = device;
    this.#plant = plant;
    this.#points = new PointHolds(device.bank, source);
    this.#slope = new CommandHold(slopeState(device, 'wPctPerS'), source);
    this.#unsubscribe = [
      // registered after the listener of the holds, which ends them before `forget`
      device.bank.onReload(() => {
        this.#points.forget();
        this.#slope.forget();
        this.#notifyRestart();
      }),
      device.onEvse(({ event }) => {
        if (event === 'power_up') this.#notifyRestart();
      }),
    ];
    const holds = keptParts({ points: this.#points.kept(), slope: this.#slope.kept() });
    this.#save = () => holds.save();
    const endKeeping = keep?.({
      save: () => this.#atClose ?? this.#save(),
      restore: (saved) => {
        holds.restore(saved);
      },
    });
    this.#endKeeping = endKeeping ?? (() => undefined);
  }

  get nominalHz(): number {
    return this.#device.trace.nominalHz;
  }

  has: DerPort['has'] = (name) => isSupported(this.#device.bank, functionTable[name]);
  hasPoint: DerPort['hasPoint'] = (model, path) => hasPoint(this.#device.bank, model, path);
  number: DerPort['number'] = (model, path) => pointNumber(this.#device.bank, model, path);

  text(model: number, path: string): string | null {
    const value = pointValue(this.#device.bank, model, path);
    return typeof value === 'string' ? value : null;
  }

  hasCurve: DerPort['hasCurve'] = (name, region) => hasCurve(this, name, region);
  place: DerPort['place'] = (wishes) => place(this, wishes);
  check: DerPort['check'] = ({ points }) => this.#points.check(inRegisters(this.#device.bank, points), 'default');

  follow(controls: readonly DerHold[]): ReadonlyMap<string, Written> {
    const values = new Map(
      controls.map(({ id, settings }) => [
        id,
        new Map(inRegisters(this.#device.bank, settings.points).map(({ slot, value }) => [slot, value])),
      ]),
    );
    const results = new Map<string, Written>(controls.map(({ id }) => [id, 'done']));
    for (const [id, result] of this.#points.follow(values)) results.set(id, result);
    const slope = slopeOf(controls.filter(({ id }) => typeof results.get(id) !== 'object'));
    const slopeResult = written(() => {
      this.#slope.change(slope);
    });
    if (slope !== null && slopeResult !== 'done' && results.get(slope.id) === 'done')
      results.set(slope.id, slopeResult);
    this.isSettled =
      slopeResult !== 'waiting' &&
      ![...results.values()].includes('waiting') &&
      this.#points.ids.every((id) => values.has(id));
    return results;
  }

  isOverwritten(id: string): boolean {
    return this.#points.isOverwritten(id) || (this.#slope.id === id && this.#slope.overwritten);
  }

  condition(since: SimTime): DerCondition {
    const { trace, detailAt: at } = this.#device;
    const { active, reactive } = trace.decidedBy;
    const { frequencyHz, lowestVoltagePct, highestVoltagePct, service: traceService } = trace.now;
    const { nominalHz } = trace;
    const service = services[traceService] ?? 'out';
    const trip = lastTrip(trace.transitions, service === 'tripped' ? null : since);
    const [over, under] = ['DbOf', 'DbUf'].map((name) => this.number(711, `Ctl[0].${name}`) ?? 0);
    const withinDroopBand = frequencyHz <= nominalHz + (over ?? 0) && frequencyHz >= nominalHz - (under ?? 0);
    return {
      at,
      service,
      trip,
      active,
      reactive,
      frequencyHz,
      nominalHz,
      withinDroopBand,
      lowestVoltagePct,
      highestVoltagePct,
    };
  }

  onTick(listener: () => void): () => void {
    return this.#plant.onTick(listener);
  }

  onRestart(listener: () => void): () => void {
    this.#restarted.add(listener);
    return () => {
      this.#restarted.delete(listener);
    };
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    if (this.#points.isEmpty && this.#slope.id === null) this.#endKeeping();
    else this.#atClose = this.#save();
    this.#points.close();
    this.#restarted.clear();
  }

  #notifyRestart(): void {
    for (const listener of this.#restarted) listener();
  }
}

function slopeOf(controls: readonly DerHold[]): ControlValue<number> | null {
  for (const { id, settings } of controls)
    if (settings.slopeWPctPerS !== undefined) return { id, value: settings.slopeWPctPerS };
  return null;
}

/**
 * The last trip, if it is by voltage or frequency; else null.
 * @param since trips up to this instant do not count; null: all count
 */
function lastTrip(transitions: readonly ServiceTransition[], since: SimTime | null): DerTrip | null {
  const tripTransition = transitions.findLast(({ to }) => to === 'tripped');
  const name = tripNames.find((each) => each === tripTransition?.cause);
  if (tripTransition === undefined || name === undefined || (since !== null && tripTransition.at <= since)) return null;
  return { name, at: tripTransition.at };
}

/**
 * The functions of grid support of a device; each call makes a separate owner of holds.
 * @param keep as of `createStationPort`
 * @returns null: no connector can discharge a vehicle
 */
function createDerPort(device: Device, plant: DerPlant, keep?: Keep): DerPort | null {
  const { detail } = device;
  const isBidirectional = detail.kind === 'evse' && detail.connectors.some(({ bidirectional }) => bidirectional);
  return isBidirectional ? new StationDer(device, plant, keep) : null;
}

/** Members of the plant that a station uses. */
type StationPlant = Pick<Plant, 'now' | 'time' | 'silentDevices' | 'onTick'>;

/** @throws SimError COMMAND_NOT_APPLICABLE */
function evseDetailOf({ detail, index }: Pick<Device, 'detail' | 'index'>): EvseDetail {
  if (detail.kind === 'evse') return detail;
  throw new SimError('COMMAND_NOT_APPLICABLE', `device ${index} is not a charging station`);
}

function nameplateOf({ bank }: Device, { vendor, model, firmwareVersion }: EvseDetail): StationNameplate {
  const serial = bank.map.m1.SN;
  return { vendor, model, serialNumber: serial === '' ? null : serial, firmwareVersion };
}

function ratingOf(connector: EvseConnectorDetail): ConnectorRating {
  const { connectorId, type, phases, nominalVoltageV, maxPowerW, maxCurrentA, bidirectional, attachedCable } =
    connector;
  // a rating is that of the supply: the present `supplyPhases` depend on the vehicle and its charging profile
  const supplyPhases = type === 'ac' && phases === 3 ? [1, 2, 3] : connector.supplyPhases;
  return {
    connectorId,
    type,
    phases,
    nominalVoltageV,
    maxPowerW,
    maxCurrentA,
    supplyPhases,
    bidirectional,
    attachedCable,
  };
}

/** Line to neutral, V; 702.VNomRtg is line to line, except on single phase. */
function nominalLnV({ bank: { map } }: Device): number {
  const nominalV = map.m702.VNomRtg ?? 0;
  const { ACType } = map.m701;
  return ACType === 'THREE_PHASE' ? nominalV / Math.sqrt(3) : ACType === 'SPLIT_PHASE' ? nominalV / 2 : nominalV;
}

function stationRatingOf(device: Device, detail: EvseDetail): ConnectorRating {
  const phases = device.bank.map.m701.ACType === 'THREE_PHASE' ? 3 : 1;
  const station = { type: 'ac', phases, nominalVoltageV: nominalLnV(device), maxPowerW: detail.maxPowerW } as const;
  return {
    connectorId: 0,
    ...station,
    maxCurrentA: maxPhaseCurrentA({ station, connectors: detail.connectors.map(ratingOf) }),
    supplyPhases: phases === 3 ? [1, 2, 3] : [1],
    bidirectional: detail.connectors.some(({ bidirectional }) => bidirectional),
    attachedCable: true,
  };
}

/** The points of 701 with consumption positive, currents as magnitudes; SunSpec counts injection as positive. */
function gridMeter({ bank }: Device): GridMeter {
  const m = bank.map.m701;
  const phases = m.ACType === 'THREE_PHASE' ? 3 : m.ACType === 'SPLIT_PHASE' ? 2 : 1;
  const byPhase = (values: readonly (number | null)[]) => values.slice(0, phases).map((value) => value ?? 0);
  return {
    reactivePowerVar: 0 - (m.Var ?? 0),
    frequencyHz: m.Hz ?? 0,
    voltageV: byPhase([m.VL1, m.VL2, m.VL3]),
    currentA: byPhase([m.AL1, m.AL2, m.AL3]).map(Math.abs),
    powerByPhaseW: byPhase([m.WL1, m.WL2, m.WL3]).map((w) => 0 - w),
  };
}

/**
 * The port of a charging station.
 * @param id charge point identity: the peer in the provenance of its commands
 * @param keep keeps the holds of DER controls together with the registers; absent: they end with the process
 * @throws SimError COMMAND_NOT_APPLICABLE if the device is not a charging station
 */
export function createStationPort(device: Device, plant: StationPlant, id: string, keep?: Keep): StationPort {
  const startDetail = evseDetailOf(device);
  const commandOrigin = { source: 'ocpp', peer: id } as const;
  const hz = () => pointNumber(device.bank, 701, 'Hz') ?? 0;
  const connectorOf = (connectorId: number): EvseConnectorDetail => {
    const { connectors } = evseDetailOf(device);
    const match = connectors.find((each) => each.connectorId === connectorId);
    if (match) return match;
    const ids = connectors.map((each) => each.connectorId).join(', ');
    throw new SimError('UNKNOWN_RESOURCE', `${id} has no connector ${connectorId}; it has ${ids}.`);
  };
  return {
    deviceIndex: device.index,
    nameplate: nameplateOf(device, startDetail),
    connectorIds: startDetail.connectors.map(({ connectorId }) => connectorId).sort((a, b) => a - b),
    ratings: startDetail.connectors.map(ratingOf),
    stationRating: stationRatingOf(device, startDetail),
    get detail() {
      return evseDetailOf(device);
    },
    connector: connectorOf,
    sample: (connectorId) =>
      connectorId === 0
        ? stationSample(evseDetailOf(device), device.detailAt, gridMeter(device))
        : connectorSample(connectorOf(connectorId), device.detailAt, hz()),
    sampleOf: ({ connector, at, powerW }) => connectorSample(connector, at, hz(), powerW),
    startedAt: device.startedAt,
    get now() {
      // within a sub-step the device may be ahead of the clock
      return device.detailAt > plant.now ? device.detailAt : plant.now;
    },
    get dark() {
      return plant.silentDevices.has(device.index);
    },
    command: (command, by = commandOrigin) => {
      device.command(command, by);
    },
    endInoperative() {
      for (const { connectorId, operative } of evseDetailOf(device).connectors) {
        const isOfCentral = device.overrides.some(
          ({ name, connectorId: at, source: writer }) =>
            name === 'evse_availability' && at === connectorId && writer === source,
        );
        if (!operative && isOfCentral)
          device.command({ kind: 'evse.availability', connectorId, operative: true }, commandOrigin);
      }
    },
    meterSetSince: (connectorId, since) =>
      device.overrides.some(
        ({ name, connectorId: at, source: writer, at: instant }) =>
          name === 'evse_meter' && at === connectorId && writer !== source && instant > since,
      ),
    openDer: () => createDerPort(device, plant, keep),
    onTransition: (listener) => device.onEvse(listener),
  };
}
